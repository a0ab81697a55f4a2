"""Writes graphs that fail as programs: repro.py, which fails, and minifier_launcher.py, which looks for a
smaller graph."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._logging.artifacts import run_folder
from torch_py.fx._script import script
from torch_py.fx.graph_module import GraphModule

_MAIN = """
if __name__ == "__main__":
    {command}(Graph(), inputs(), backend, after={after!r}, check={check!r}, options={options!r})
"""


def write_program(
    file: str, module: GraphModule, inputs: Sequence[Any], backend: Any, after: str, check: str, options: Any
) -> Path:
    """Writes repro.py or minifier_launcher.py into the folder of the run, and returns its path."""
    path = run_folder() / "minifier" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program(file, module, inputs, backend, after, check, options), encoding="utf-8")
    return path


def program(
    file: str, module: GraphModule, inputs: Sequence[Any], backend: Any, after: str, check: str, options: Any
) -> str:
    """The text of a program. `after` and `check` are as in `running.run_repro`."""
    command = "run_repro" if file == "repro.py" else "minify"
    imports = [f"from torch_py._dynamo.repro.running import {command}", ""]
    main = _MAIN.format(command=command, after=after, check=check, options=options or {})
    text = script(module, inputs, f"{backend_text(backend)}\n{main}", imports, is_traced=True)
    return f'"""A graph that {_COMPLAINTS[check]}: run this program."""\n\n{text}'


_COMPLAINTS = {
    "raises": "a compiler fails on",
    "differs": "a compiler computes differently",
    "ends": "a compiler was given when it was written",
}


def backend_text(backend: Any) -> str:
    """Statements that set `backend`: a name, an import, or the source of the function.

    Functions that were made in another function, or as a lambda, are written as they are; what they refer to
    may be missing.
    """
    if isinstance(backend, str):
        return f"backend = {backend!r}"

    module, name = getattr(backend, "__module__", None), getattr(backend, "__qualname__", "")
    if module not in (None, "__main__") and name.isidentifier():
        return f"from {module} import {name} as backend"

    if not isinstance(backend, FunctionType):
        return f"backend = None  # put the backend here: {backend!r}"
    try:
        source = textwrap.dedent(inspect.getsource(backend))
    except OSError:
        return f"backend = None  # put the backend here: {backend!r}"
    lines = source.splitlines()
    while lines and lines[0].startswith("@"):
        del lines[0]
    return "\n".join(["", *lines, "", "", f"backend = {backend.__name__}"])


def name_of(backend: Any) -> Any:
    """The name of a backend that is known by name, or the backend."""
    for name in ("inductor", "aot_eager", "aot_eager_decomp_partition", "eager"):
        if lookup_backend(name) is backend:
            return name
    return backend
