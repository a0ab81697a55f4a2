"""Checks of positions that compiled loops read elements at, which programs call before the loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from torch_py import _C
from torch_py._ops import ops
from torch_py._records import Fields


class InRange(Fields):
    """A function of positions that returns them if all are in range, and otherwise calls an operator with
    them, on a tensor of zeros of the given sizes."""

    name: str

    @property
    def __name__(self) -> str:
        return f"{self.name}_in_range"

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, positions: Any, sizes: Sequence[int], dim: int) -> Any:
        low, high = positions.aminmax()
        least = -sizes[dim] if self.name == "index" else 0
        if high.item() >= sizes[dim] or low.item() < least:
            functions: Any = _C._torch
            _CALLS[self.name](functions.zeros(()).expand(list(sizes)), dim, positions)
            raise IndexError(f"{self.__name__}: positions are out of range")
        return positions


# How the operators that lower/indirect has rules for are called with a source, a dimension and positions: a
# translation into their schemas, which name and order these differently.
_CALLS: dict[str, Callable[..., Any]] = {
    "embedding": lambda source, dim, positions: ops.aten.embedding(source, positions),
    "index_select": lambda source, dim, positions: ops.aten.index_select(source, dim, positions),
    "gather": lambda source, dim, positions: ops.aten.gather(source, dim, positions),
    "index": lambda source, dim, positions: ops.aten.index(source, [None] * dim + [positions]),
}


in_range = cache(InRange)
