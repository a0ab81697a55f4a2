"""Types of tensors with sizes, for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TensorType:
    """A tensor with known sizes: `TensorType((1, 2, Dyn))`, where Dyn is one that may vary."""

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self) -> Sequence[Any]:
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.__args__) == list(other.__args__)

    def __hash__(self) -> int:
        return hash(tuple(self.__args__))

    @staticmethod
    def __class_getitem__(*args: Any) -> TensorType:
        if len(args) == 1 and isinstance(args[0], tuple):
            args = args[0]
        return TensorType(tuple(args))


class _DynType:
    """The type of a size or value that is not known."""

    def __init__(self) -> None:
        self.__name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    def __hash__(self) -> int:
        return hash(_DynType)

    def __str__(self) -> str:
        return "Dyn"

    __repr__ = __str__


Dyn = _DynType()


def is_consistent(t1: object, t2: object) -> bool:
    """Whether two types agree wherever both are known."""
    if t1 == t2 or isinstance(t1, _DynType) or isinstance(t2, _DynType):
        return True
    if isinstance(t1, TensorType) and isinstance(t2, TensorType):
        return len(t1.dims) == len(t2.dims) and all(map(is_consistent, t1.dims, t2.dims))
    return False


def is_more_precise(t1: object, t2: object) -> bool:
    """Whether `t1` says at least what `t2` says."""
    if t1 == t2 or isinstance(t2, _DynType):
        return True
    if isinstance(t1, TensorType) and isinstance(t2, TensorType):
        return len(t1.dims) == len(t2.dims) and all(map(is_more_precise, t1.dims, t2.dims))
    return False
