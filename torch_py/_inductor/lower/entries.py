"""The formulas of operators: those of native_functions.yaml, and those of libraries outside the tree."""

from __future__ import annotations

from typing import Any

from torch_py._generated.lowerings import POINTWISE, ROWS
from torch_py._libraries import library_of


def pointwise_entry(name: str) -> Any:
    """The promotion rule and the formula of one element of a result; None without a formula."""
    library = library_of(name)
    return (POINTWISE if library is None else library.pointwise).get(name)


def row_entry(name: str) -> Any:
    """The promotion rule, the stages and the formula of an operator over rows."""
    library = library_of(name)
    return (ROWS if library is None else library.over_rows).get(name)
