"""Operator names: ``add_.Tensor``, ``__iand__.Scalar``."""

from __future__ import annotations

from typing import NamedTuple

# Python's in-place operators; their names begin with "__i" although "__index__" and the like do not mutate.
_INPLACE_DUNDERS = (
    "iadd",
    "isub",
    "imul",
    "imatmul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "ilshift",
    "irshift",
    "iand",
    "ixor",
    "ior",
    "idiv",
)


class BaseName(NamedTuple):
    """The name without its overload.

    ``base`` has neither the trailing underscore of in-place functions nor the underscores of dunder methods:
    ``add_`` is (add, inplace), ``__iand__`` is (and, inplace, dunder), ``__and__`` is (and, dunder).
    """

    base: str
    inplace: bool = False
    dunder: bool = False

    @staticmethod
    def of(text: str) -> BaseName:
        if len(text) > 4 and text.startswith("__") and text.endswith("__"):
            inner = text[2:-2]
            if inner in _INPLACE_DUNDERS:
                return BaseName(inner[1:], inplace=True, dunder=True)
            return BaseName(inner, dunder=True)
        if text.endswith("_") and len(text) > 1:
            return BaseName(text[:-1], inplace=True)
        return BaseName(text)

    def __str__(self) -> str:
        if self.dunder:
            return f"__{'i' if self.inplace else ''}{self.base}__"
        return self.base + ("_" if self.inplace else "")


class OperatorName(NamedTuple):
    """``name`` and ``overload`` (empty for the default overload)."""

    name: BaseName
    overload: str = ""

    @property
    def unambiguous(self) -> str:
        """A C++ identifier unique per overload: ``add_Tensor``, ``add__Tensor``, ``relu``."""
        return f"{self.name}_{self.overload}" if self.overload else str(self.name)

    def in_place(self) -> OperatorName:
        """``add_.Tensor`` of ``add.Tensor``."""
        return self._replace(name=self.name._replace(inplace=True))

    def __str__(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else str(self.name)
