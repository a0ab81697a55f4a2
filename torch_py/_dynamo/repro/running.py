"""What the programs do that were written for graphs that fail."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.repro.checks import Compile, difference_of, problem_of
from torch_py._dynamo.repro.minifier import copy_of, minified
from torch_py._dynamo.repro.scripts import program
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx._symbolic_trace import symbolic_trace
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.interpreter import Interpreter
from torch_py.fx.node import Node
from torch_py.utils._pytree import tree_map


def run_repro(
    module: Any,
    inputs: Sequence[Any],
    backend: Any,
    after: str = "dynamo",
    check: str = "raises",
    options: Mapping[str, Any] | None = None,
) -> None:
    """Compiles and runs a graph. Raises what the backend raises, or AccuracyError if the results differ.

    Args:
        module: computes a list of results; its operators are those of the graph.
        backend: compiles the graph: the name of a backend of torch.compile, or a function.
        after: "dynamo", or "aot" for a graph that inductor gets after ahead-of-time autograd.
        check: "raises" or "differs".
        options: further arguments of the backend.
    """
    compile = compiler_of(backend, after, options)
    problem = _CHECKS[check](symbolic_trace(module), list(inputs), compile)
    if problem is not None:
        raise problem
    print("the graph does not fail")


def minify(
    module: Any,
    inputs: Sequence[Any],
    backend: Any,
    after: str = "dynamo",
    check: str = "raises",
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Looks for the smallest part of a graph that fails as the whole does, and writes repro.py with it, next
    to the program. Returns the path.

    The arguments are those of `run_repro`; with "ends" as `check`, parts of the graph run in processes, which
    fail if they end as that of the whole graph did. Raises ValueError if the graph does not fail.
    """
    path = Path(sys.argv[0]).resolve().with_name("repro.py")
    whole = symbolic_trace(module)

    def text_of(smaller: GraphModule, given: Sequence[Any]) -> str:
        kind = "raises" if check == "ends" else check
        return program("repro.py", smaller, given, backend, after, kind, options)

    def symptom(smaller: GraphModule, given: list[Any]) -> Any:
        if check == "ends":
            return _end_of(text_of(smaller, given), path)
        return type(_CHECKS[check](copy_of(smaller), given, compiler_of(backend, after, options)))

    first = symptom(whole, list(inputs))
    if first in _HEALTHY:
        raise ValueError("the graph does not fail, so it cannot be reduced")

    def keep(smaller: GraphModule, given: Sequence[Any]) -> None:
        path.write_text(text_of(smaller, given), encoding="utf-8")

    keep(whole, inputs)
    found, _ = minified(whole, inputs, lambda smaller, given: bool(symptom(smaller, given) == first), keep)
    calls = [node for node in found.graph.nodes if node.op.startswith("call")]
    print(f"{len(calls)} operators fail: {path}")
    return path


_HEALTHY = (0, type(None))


def _end_of(text: str, path: Path) -> int:
    """The exit status of a process that runs a program next to `path`; that of its signal is negative."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=path.parent) as file:
        file.write(text)
        file.flush()
        return subprocess.run([sys.executable, file.name], check=False, capture_output=True).returncode


def compiler_of(backend: Any, after: str, options: Mapping[str, Any] | None) -> Compile:
    """The function that compiles graphs."""
    if after == "aot":
        inner = inductor_compiler() if isinstance(backend, str) else backend
        return lambda module, inputs: _without_gradients(inner(with_values(module, inputs), list(inputs)))
    function = lookup_backend(backend)
    return lambda module, inputs: function(module, list(inputs), **(options or {}))


def inductor_compiler() -> Callable[..., Any]:
    """What inductor compiles a graph of operators with."""
    # Imported here: most backends do without it.
    from torch_py._inductor.compile_fx import compile_fx_inner

    return compile_fx_inner


def _without_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*inputs: Any) -> Any:
        with no_grad():
            return function(*inputs)

    return run


def with_values(module: GraphModule, inputs: Sequence[Any]) -> GraphModule:
    """The module, with a fake tensor as ``meta["val"]`` of every node."""
    mode = FakeTensorMode()
    given = [mode.from_tensor(x.detach()) if isinstance(x, Tensor) else x for x in inputs]
    with mode, no_grad():
        _Values(module).run(*given)
    return module


class _Values(Interpreter):
    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        n.meta["val"] = tree_map(lambda value: value, result)
        return result


_CHECKS: dict[str, Callable[..., Exception | None]] = {"raises": problem_of, "differs": difference_of}
