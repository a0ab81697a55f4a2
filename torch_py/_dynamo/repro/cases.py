"""Graphs with what compiles them: whether that fails, and programs that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.repro.checks import difference_of, problem_of
from torch_py._dynamo.repro.scripts import program_text
from torch_py._logging.artifacts import run_folder
from torch_py._records import Fields
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.passes.fake_tensor_prop import FakeTensorProp


class Case(Fields):
    """A graph, inputs of it, and what it is compiled with; see `running.run_repro`."""

    module: GraphModule
    inputs: Sequence[Any]
    backend: Any
    after: str
    options: Mapping[str, Any]
    check: str = "raises"

    def of(self, module: GraphModule, inputs: Sequence[Any]) -> Case:
        """The same for another graph."""
        return Case(module, inputs, self.backend, self.after, self.options, self.check)

    def problem(self) -> Exception | None:
        """What is wrong with the compiled graph; None if there is nothing."""
        return _CHECKS[self.check](self.module, list(self.inputs), self.compile)

    def compile(self, module: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        """What the backend makes of a graph."""
        if self.after == "aot":
            inner = inductor_compiler() if isinstance(self.backend, str) else self.backend
            return no_grad()(inner(with_values(module, inputs), list(inputs)))
        return lookup_backend(self.backend)(module, list(inputs), **self.options)  # type: ignore[no-any-return]

    def text(self, file: str) -> str:
        """The text of repro.py or minifier_launcher.py."""
        command = "run_repro" if file == "repro.py" else "minify"
        arguments = {"after": self.after, "check": self.check, "options": dict(self.options)}
        return program_text(command, self.module, self.inputs, self.backend, arguments)

    def write(self, file: str) -> Path:
        """Writes the program into the folder of the run, and returns its path."""
        path = run_folder() / "minifier" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(file), encoding="utf-8")
        return path


_CHECKS: dict[str, Callable[..., Exception | None]] = {"raises": problem_of, "differs": difference_of}


def inductor_compiler() -> Callable[..., Any]:
    """What inductor compiles a graph of operators with."""
    # Imported here: most backends do without it.
    from torch_py._inductor.compile_fx import compile_fx_inner

    return compile_fx_inner


def with_values(module: GraphModule, inputs: Sequence[Any]) -> GraphModule:
    """The module, with a fake tensor as ``meta["val"]`` of every node."""
    with no_grad():
        FakeTensorProp(module, FakeTensorMode()).propagate(
            *(value.detach() if isinstance(value, Tensor) else value for value in inputs)
        )
    return module
