"""`Record`: values with named fields, as dataclasses are, in classes that are made quickly.

The methods of a dataclass are compiled when its class is made, which takes as long as the import of a small
module. What the compiler imports has many such classes.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Record:
    """Equal to another value of the same class if all `_fields` are equal.

    A subclass names its fields, and sets them in `__init__`:

        class Place(Record):
            __slots__ = _fields = ("row", "column")

            def __init__(self, row: int, column: int) -> None:
                self.row = row
                self.column = column
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self._fields])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({fields})"
