"""Which headers printed C++ needs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.analysis.functions import file_stem
from codegen.model import Operator, Program

_CALL = re.compile(r"\bat::(\w+)\(")


def operator_headers(texts: Iterable[str], program: Program) -> set[str]:
    """Of the operators whose free functions are called."""
    called = {name for text in texts for name in _CALL.findall(text)}
    return {header_of(overload) for name in called for overload in program.by_base_name(name)}


def header_of(operator: Operator) -> str:
    """A library's headers have a folder of their own: it may add overloads to names of the tree."""
    return f"{operator.library or 'aten'}/ops/{file_stem(operator)}.h"


def library_headers(texts: Iterable[str], takes_scalars: bool) -> set[str]:
    """Of functions that formulas use on numbers; ``takes_scalars``: c10::Scalar among them."""
    joined = "\n".join(texts)
    found = set()
    if "at::vec::" in joined:
        found.add("aten/vec/math.h")
    found.update(list_headers(texts))
    if takes_scalars or re.search(r"\bc10::\w+\(", joined):
        found.add("c10/core/ScalarMath.h")
    return found


def list_headers(texts: Iterable[str]) -> set[str]:
    """Of the index of a list, in formulas and in requirements."""
    return {"aten/core/ListElement.h"} if any("at::element_of(" in text for text in texts) else set()


def standard_headers(texts: Iterable[str]) -> list[str]:
    joined = "\n".join(texts)
    found = []
    if re.search(r"\bstd::(max|min|all_of)\b", joined):
        found.append("algorithm")
    if re.search(r"\bstd::[a-z0-9]+\(", joined) or "numeric_limits" in joined:
        found += ["cmath", "limits"]
    return found
