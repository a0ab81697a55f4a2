"""The headers that printed C++ includes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.model import Operator, Program
from codegen.targets.torch_py.analysis.functions import file_stem

_CALL = re.compile(r"\bat::(\w+)\(")


def operator_headers(texts: Iterable[str], program: Program) -> set[str]:
    """Headers of the operators whose free functions ``texts`` call."""
    called = {name for text in texts for name in _CALL.findall(text)}
    return {header_of(overload) for name in called for overload in program.by_base_name(name)}


def header_of(operator: Operator) -> str:
    """The header that declares an operator.

    Those of a library are in a folder of its own, because it may add overloads to operators of the tree.
    """
    return f"{operator.library or 'aten'}/ops/{file_stem(operator)}.h"


def library_headers(texts: Iterable[str], takes_scalars: bool) -> set[str]:
    """Headers of functions that formulas call on numbers; ``takes_scalars`` if some are c10::Scalar."""
    joined = "\n".join(texts)
    found = set()
    if "at::vec::" in joined:
        found.add("aten/vec/math.h")
    found.update(list_headers(texts))
    if takes_scalars or re.search(r"\bc10::\w+\(", joined):
        found.add("c10/core/ScalarMath.h")
    return found


def list_headers(texts: Iterable[str]) -> set[str]:
    """The header for indexing a list, in formulas and in requirements."""
    return {"aten/core/ListElement.h"} if any("at::element_of(" in text for text in texts) else set()


def standard_headers(texts: Iterable[str]) -> list[str]:
    """The standard library's headers that ``texts`` need."""
    joined = "\n".join(texts)
    found = []
    if re.search(r"\bstd::(max|min|all_of)\b", joined):
        found.append("algorithm")
    if re.search(r"\bstd::[a-z0-9]+\(", joined) or "numeric_limits" in joined:
        found += ["cmath", "limits"]
    return found
