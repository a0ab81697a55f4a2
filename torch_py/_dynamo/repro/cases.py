"""Graphs with what compiles them: whether that fails, and programs that show it: repro.py, which fails, and
minifier_launcher.py, which looks for a smaller graph."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.repro.checks import difference_of, problem_of
from torch_py._logging.artifacts import run_folder
from torch_py._records import Fields
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx._script import script
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.passes.fake_tensor_prop import FakeTensorProp

_MAIN = """
if __name__ == "__main__":
    {command}(Graph(), inputs(), backend, {arguments})
"""
_COMPLAINTS = {
    "raises": "a compiler fails on",
    "differs": "a compiler computes differently",
    "ends": "a compiler was given when it was written",
}


class Case(Fields):
    """A graph, inputs of it, and what compiles it: the name of a backend of torch.compile, or a function.

    `after` is "dynamo", or "aot" for a graph that inductor gets after ahead-of-time autograd. `options` are
    further arguments of the backend. `check` is "raises" or "differs".
    """

    module: GraphModule
    inputs: Sequence[Any]
    backend: Any
    after: str = "dynamo"
    options: Mapping[str, Any] = {}
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
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        main = _MAIN.format(command=command, arguments=given)

        imports = [f"from torch_py._dynamo.repro.running import {command}", ""]
        end = f"{_backend_text(self.backend)}\n{main}"
        text = script(self.module, self.inputs, end, imports, is_traced=True)
        return f'"""A graph that {_COMPLAINTS[self.check]}: run this program."""\n\n{text}'

    def write(self, file: str) -> Path:
        """Writes the program into the folder of the run, and returns its path."""
        path = run_folder() / "minifier" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(file), encoding="utf-8")
        return path


_CHECKS: dict[str, Callable[..., Exception | None]] = {"raises": problem_of, "differs": difference_of}


def _backend_text(backend: Any) -> str:
    """Statements that set `backend`: a name, an import, or the source of the function.

    Functions that were made in another function, or as a lambda, are written as they are; what they refer to
    may be missing.
    """
    if isinstance(backend, str):
        return f"backend = {backend!r}"

    module, name = getattr(backend, "__module__", None), getattr(backend, "__qualname__", "")
    if module not in (None, "__main__") and name.isidentifier():
        return f"from {module} import {name} as backend"

    try:
        source = textwrap.dedent(inspect.getsource(backend))
    except (OSError, TypeError):  # TypeError: an object with a __call__
        return f"backend = None  # put the backend here: {backend!r}"
    lines = source.splitlines()
    while lines and lines[0].startswith("@"):
        del lines[0]
    return "\n".join(["", *lines, "", "", f"backend = {backend.__name__}"])


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
