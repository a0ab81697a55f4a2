"""Where the inputs of a graph come from: arguments of the call, or memory that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._records import Record


class Own(Record):
    """An argument itself."""

    position: int

    def of(self, arguments: Sequence[Any]) -> Any:
        return arguments[self.position]


class Base(Record):
    """The tensor that an argument is a view of, which may be itself."""

    position: int

    def of(self, arguments: Sequence[Any]) -> Any:
        argument = arguments[self.position]
        return argument._base if argument._is_view() else argument


class Memory(Record):
    """All memory of an argument, as elements in a row without history."""

    position: int

    def of(self, arguments: Sequence[Any]) -> Any:
        argument = arguments[self.position]
        count = argument.untyped_storage().nbytes() // argument.itemsize
        return argument.detach().as_strided((count,), (1,), 0)


Source = Own | Base | Memory
