"""Watches compilers (`TORCHDYNAMO_REPRO_AFTER`): a graph that one fails on is written as a program, which
reduces it."""

from __future__ import annotations

import copy
import inspect
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch_py import random
from torch_py._dynamo import config
from torch_py._dynamo.backends.registry import lookup_backend, name_of
from torch_py._dynamo.checking import AccuracyError, difference_of, problem_of
from torch_py._dynamo.testing import calls_in
from torch_py._logging.artifacts import run_folder
from torch_py._records import Fields
from torch_py._shapes.arguments import NotFollowed
from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx._copies import copied
from torch_py.fx._script import script
from torch_py.fx._symbolic_trace import symbolic_trace
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.passes.fake_tensor_prop import FakeTensorProp
from torch_py.fx.passes.minifier import minified


def copy_of(module: GraphModule) -> GraphModule:
    """A module with a copy of the graph: compilers may change the other one."""
    return GraphModule(module, copy.deepcopy(module.graph))


# Programs
# ------------------------------------------------------------

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

        imports = [f"from torch_py._dynamo.repro.minifier import {command}", ""]
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
    given = (value.detach() if isinstance(value, Tensor) else value for value in inputs)
    with no_grad():
        FakeTensorProp(module, FakeTensorMode()).propagate(*given)
    return module


# What these programs do
# ------------------------------------------------------------


def run_repro(module: Any, inputs: Sequence[Any], backend: Any, **settings: Any) -> None:
    """Compiles and runs a graph. Raises what the backend raises, or AccuracyError if the results differ.

    Args:
        module: computes a list of results; its operators are those of the graph.
        backend: compiles the graph: the name of a backend of torch.compile, or a function.
        settings: further fields of a `Case`.
    """
    problem = Case(symbolic_trace(module), inputs, backend, **settings).problem()
    if problem is not None:
        raise problem
    print("the graph does not fail")


def minify(module: Any, inputs: Sequence[Any], backend: Any, check: str = "raises", **settings: Any) -> Path:
    """Looks for the smallest part of a graph that fails as the whole does, and writes repro.py with it, next
    to the program. Returns the path.

    The arguments are those of `run_repro`; with "ends" as `check`, parts of the graph run in processes, which
    fail if they end as that of the whole graph did. Raises ValueError if the graph does not fail.
    """
    path = Path(sys.argv[0]).resolve().with_name("repro.py")
    kind = "raises" if check == "ends" else check
    whole = Case(symbolic_trace(module), list(inputs), backend, check=kind, **settings)

    def symptom(smaller: GraphModule, given: list[Any]) -> Any:
        if check == "ends":
            return _end_of(whole.of(smaller, given).text("repro.py"), path)
        return type(whole.of(copy_of(smaller), given).problem())

    first = symptom(whole.module, whole.inputs)

    def fails(smaller: GraphModule, given: list[Any]) -> bool:
        return first not in (0, type(None)) and bool(symptom(smaller, given) == first)

    def keep(smaller: GraphModule, given: Sequence[Any]) -> None:
        path.write_text(whole.of(smaller, given).text("repro.py"), encoding="utf-8")

    found, _ = minified(whole.module, inputs, fails, keep)
    print(f"{len(calls_in(found))} operators fail: {path}")
    return path


def _end_of(text: str, path: Path) -> int:
    """The exit status of a process that runs a program next to `path`; that of its signal is negative."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=path.parent) as file:
        file.write(text)
        file.flush()
        return subprocess.run([sys.executable, file.name], check=False, capture_output=True).returncode


# Compilers that are watched
# ------------------------------------------------------------


def compiled(backend: Any, module: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What a backend of torch.compile makes of a graph.

    Raises what the backend raises, and AccuracyError at level 4 if the results differ.
    """
    name = name_of(backend)
    if config.repro_after == "aot":
        if name == "inductor":
            options = {**options, "inner_compile": inner_compile}
        return backend(module, list(inputs), **options)

    watch = _Watch(copy_of(module), list(inputs), name or backend, "dynamo", options)
    result = watch.compiled(lambda: backend(module, list(inputs), **options))
    if config.repro_level == 4:
        watch.compare([copied(value) for value in inputs])
    return result


def inner_compile(module: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Any:
    """Compiles one of inductor's graphs. Results are compared at the first call: inputs are fake before."""
    watch = _Watch(copy_of(module), list(example_inputs), "inductor", "aot", {})
    run = watch.compiled(lambda: inductor_compiler()(module, example_inputs))
    return watch.comparing(run) if config.repro_level == 4 else run


class _Watch(Case):
    """One graph, as it was before it was compiled."""

    def compiled(self, compile: Callable[[], Any]) -> Any:
        """The result of a compilation; the program is written if that fails, and at level 3 before it."""
        if config.repro_level == 3:
            self.tell("ends")
        try:
            found = compile()
            if not any(isinstance(value, FakeTensor) for value in self.inputs):
                with random.fork_rng(devices=()):  # backends may fail only when the graph runs
                    found(*map(copied, self.inputs))
            return found
        except Exception as error:
            if config.repro_level != 3 and not isinstance(error, NotFollowed):
                self.tell("raises")
            raise

    def compare(self, inputs: Sequence[Any]) -> None:
        """Raises AccuracyError if a graph compiles to something else than its operators."""
        found = difference_of(copy_of(self.module), inputs, self.compile)
        if found is not None:
            self.inputs = list(inputs)
            self.tell("differs")
            raise AccuracyError(f"Bad accuracy detected: {found}")

    def comparing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled graph, compared with its operators at the first call."""
        seen: list[bool] = []

        def run(*inputs: Any) -> Any:
            if not seen:
                seen.append(True)
                self.compare([copied(value) for value in inputs])
            return function(*inputs)

        return run

    def tell(self, check: str) -> None:
        """Writes the program, and says where it is."""
        self.check = check
        try:
            path = self.write("repro.py" if config.repro_level == 1 else "minifier_launcher.py")
            outcome = f"a graph that fails was written as a program: {path}"
        except (OSError, RuntimeError) as problem:
            outcome = f"no program could be written: {problem}"
        warnings.warn(f"torch.compile: {outcome}", stacklevel=2)
