"""What is recorded: a function, or a graph that is run node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._functorch.aot.recording import Recorder
from torch_py._tensor import Tensor
from torch_py.fx._interpreter import Interpreter
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

# ``program(recorder, arguments)`` returns a list of results.
Program = Callable[[Recorder, list[Any]], list[Any]]

_LINES = ("stack_trace", "nn_module_stack", "source_fn_stack")  # what `meta` says of a node's place


def of_function(function: Callable[..., Sequence[Any]]) -> Program:
    """Calls a function, which returns a list."""

    def program(recorder: Recorder, arguments: list[Any]) -> list[Any]:
        return list(function(*arguments))

    return program


class GraphProgram(Interpreter):
    """Runs a graph of calls of torch's functions. What a node records gets its line of the user's program,
    and its result the name of the node.
    """

    recorder: Recorder  # of the call

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.extra_traceback = False

    def __call__(self, recorder: Recorder, arguments: list[Any]) -> list[Any]:
        self.recorder = recorder
        return list(self.run(*arguments, enable_io_processing=False))

    def run_node(self, n: Node) -> Any:
        if not n.op.startswith("call"):
            return super().run_node(n)

        self.recorder.context = {name: n.meta[name] for name in _LINES if name in n.meta}
        result = super().run_node(n)
        if isinstance(result, Tensor):
            self.recorder.name(result, n.name)
        return result
