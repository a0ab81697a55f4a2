"""What is recorded: a function, or a graph that is run node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._functorch.aot.recording import Recorder
from torch_py._tensor import Tensor
from torch_py.fx._attributes import get_attr
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg

# ``program(recorder, arguments)`` returns a list of results.
Program = Callable[[Recorder, list[Any]], list[Any]]

_LINES = ("stack_trace", "nn_module_stack", "source_fn_stack")  # what `meta` says of a node's place


def of_function(function: Callable[..., Sequence[Any]]) -> Program:
    """Calls a function, which returns a list."""

    def program(recorder: Recorder, arguments: list[Any]) -> list[Any]:
        return list(function(*arguments))

    return program


class GraphProgram:
    """Runs a graph of calls of torch's functions. What a node records gets its line of the user's program,
    and its result the name of the node.
    """

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self._last_users = _last_users(module)

    def __call__(self, recorder: Recorder, arguments: list[Any]) -> list[Any]:
        given = iter(arguments)
        values: dict[Node, Any] = {}
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(given)
            elif node.op == "output":
                return list(map_arg(node.args[0], values.__getitem__))
            else:
                values[node] = self._run(node, values, recorder)
                for dead in self._last_users.get(node, ()):
                    del values[dead]
        raise AssertionError("a graph without output")

    def _run(self, node: Node, values: dict[Node, Any], recorder: Recorder) -> Any:
        if node.op == "get_attr":
            return get_attr(self.module, node.target)

        recorder.context = {name: node.meta[name] for name in _LINES if name in node.meta}
        args = map_arg(node.args, values.__getitem__)
        kwargs = map_arg(node.kwargs, values.__getitem__)
        result = self._called(node, args, kwargs)
        if isinstance(result, Tensor):
            recorder.name(result, node.name)
        return result

    def _called(self, node: Node, args: Any, kwargs: Any) -> Any:
        target: Any = node.target
        if node.op == "call_function":
            return target(*args, **kwargs)
        if node.op == "call_method":
            return getattr(args[0], target)(*args[1:], **kwargs)
        return self.module.get_submodule(target)(*args, **kwargs)


def _last_users(module: GraphModule) -> dict[Node, list[Node]]:
    """For each node, the values that nothing uses after it."""
    found: dict[Node, list[Node]] = {}
    for node in module.graph.nodes:
        if node.users:
            found.setdefault(max(node.users), []).append(node)
    return found
