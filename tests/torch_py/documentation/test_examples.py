"""Runs the examples of all documentation: docstrings of torch_py, and texts of native_functions.yaml.

An example finds the names `torch`, `nn` and `F`, those of its own module, and random numbers from seed 0.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import torch_py
from tests.torch_py.documentation.public import documentation, everything

ROOT = Path(torch_py.__file__).parent
# Internals whose comments show code in other forms.
_INTERNAL = ("_dynamo", "_inductor", "csrc", "_generated", "lib", "include")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def docstrings() -> Iterator[tuple[str, str]]:
    """``nn/modules/linear.py:Linear`` and the text, for each docstring with an example."""
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        if place.parts[0] in _INTERNAL or ">>> " not in (source := path.read_text()):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node)
                if text and ">>> " in text:
                    yield f"{place}:{getattr(node, 'name', '')}", text


def entries() -> Iterator[tuple[str, str]]:
    """The operators with an example, and their documentation."""
    facts = json.loads((ROOT / "_generated/operators.json").read_text())
    for operator in facts["operators"]:
        if ">>> " in operator["doc"] and operator["each"] is None:
            yield f"native_functions.yaml:{operator['name']}", inspect.cleandoc(operator["doc"])


def written_by_hand() -> Iterator[tuple[str, str]]:
    """Functions and types whose documentation is neither a docstring in a file nor that of an entry."""
    elsewhere = {_example_of(text) for texts in (docstrings, entries) for _, text in texts()}
    for module, name, value in everything():
        example = _example_of(documentation(value))
        if example and example not in elsewhere:
            yield f"{module}.{name}", example


def _example_of(text: str) -> str:
    return textwrap.dedent(inspect.cleandoc(text).partition("Example:\n")[2]).strip()


def _names_of(path: str) -> dict[str, Any]:
    """The names of the packages around a module, the packages themselves, and the names of the module."""
    *packages, module = Path(path).with_suffix("").parts
    loaded = {
        package: importlib.import_module(".".join(("torch_py", *packages[: i + 1])))
        for i, package in enumerate(packages)
    }
    found = dict(loaded)
    for each in loaded.values():
        found |= vars(each)
    if module != "__init__":
        found |= vars(importlib.import_module(".".join(("torch_py", *packages, module))))
    return found


def failures(name: str, text: str) -> list[str]:
    """What went wrong in the examples of one text."""
    path = name.partition(":")[0]
    names = _names_of(path) if path.endswith(".py") else {}
    names |= {"torch": torch_py, "nn": torch_py.nn, "F": torch_py.nn.functional}
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    torch_py.manual_seed(0)
    found: list[str] = []
    doctest.DocTestRunner(optionflags=_FLAGS, verbose=False).run(example, out=found.append)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("texts", [docstrings, entries, written_by_hand])
def test_examples(texts) -> None:
    named = list(texts())
    assert named, "the texts with examples were not found"

    found = [report for name, text in named for report in failures(name, text)]
    assert not found, "\n".join(found)
