"""`Record`: values with named fields, as dataclasses are, in classes that are made quickly.

The methods of a dataclass are compiled when its class is made, which takes as long as the import of a small
module. What the compiler imports has many such classes.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Fields:
    """An object whose constructor sets its fields: the annotated names of the class, in their order.

    Those with a value in the class may be left out; of a list, dictionary or set, each object gets a copy:

        class Step(Fields):
            target: Any
            index: int | None = None
            users: list[Any] = []
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _containers: ClassVar[tuple[tuple[str, Any], ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_fields" not in cls.__dict__:
            cls._fields = (*cls._fields, *cls.__dict__.get("__annotations__", ()))
        defaults = [(name, getattr(cls, name, None)) for name in cls._fields]
        cls._containers = tuple(pair for pair in defaults if type(pair[1]) in (list, dict, set))

    def __init__(self, *values: Any, **named: Any) -> None:
        for name, container in self._containers:
            self.__dict__[name] = container.copy()
        if named or len(values) != len(self._fields):
            self._check(values, named)
            self.__dict__.update(named)
        self.__dict__.update(zip(self._fields, values))

    def _check(self, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Raises TypeError for arguments that are not these fields."""
        name, rest = type(self).__name__, self._fields[len(values) :]
        if len(values) > len(self._fields) or not named.keys() <= set(rest):
            raise TypeError(f"{name} takes {', '.join(self._fields)}")
        missing = [field for field in rest if field not in named and not hasattr(type(self), field)]
        if missing:
            raise TypeError(f"{name}: {', '.join(missing)} missing")


class Record(Fields):
    """Equal to another value of the same class if all fields are equal.

    A subclass that is made often names its fields, and sets them in `__init__`:

        class Place(Record):
            __slots__ = _fields = ("row", "column")

            def __init__(self, row: int, column: int) -> None:
                self.row = row
                self.column = column
    """

    __slots__ = ()

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
