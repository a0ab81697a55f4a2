"""The texts of programs for graphs that fail: repro.py, which fails, and minifier_launcher.py, which looks
for a smaller graph."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from torch_py.fx._script import script
from torch_py.fx.graph_module import GraphModule

_MAIN = """
if __name__ == "__main__":
    {command}(Graph(), inputs(), backend, {arguments})
"""


def program_text(
    command: str, module: GraphModule, inputs: Sequence[Any], backend: Any, arguments: Mapping[str, Any]
) -> str:
    """A program that calls a function of running.py with a graph."""
    imports = [f"from torch_py._dynamo.repro.running import {command}", ""]
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    main = _MAIN.format(command=command, arguments=given)
    text = script(module, inputs, f"{backend_text(backend)}\n{main}", imports, is_traced=True)
    return f'"""A graph that {_COMPLAINTS[arguments["check"]]}: run this program."""\n\n{text}'


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
