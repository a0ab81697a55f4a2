"""What the programs do that were written for graphs that fail."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch_py._dynamo.repro.minifier import Case, copy_of, minified
from torch_py.fx._symbolic_trace import symbolic_trace
from torch_py.fx.graph_module import GraphModule


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
    calls = [node for node in found.graph.nodes if node.op.startswith("call")]
    print(f"{len(calls)} operators fail: {path}")
    return path


def _end_of(text: str, path: Path) -> int:
    """The exit status of a process that runs a program next to `path`; that of its signal is negative."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=path.parent) as file:
        file.write(text)
        file.flush()
        return subprocess.run([sys.executable, file.name], check=False, capture_output=True).returncode
