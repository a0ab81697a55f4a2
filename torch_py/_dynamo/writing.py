"""What a program writes to objects that existed before: kept in the journal, and undone after the capture."""

from __future__ import annotations

from collections import deque
from types import CellType, ModuleType
from typing import Any

from torch_py._dynamo import attributes
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.journal import set_attribute, set_contents, set_key
from torch_py._dynamo.origins import SCALARS
from torch_py._dynamo.reading import Reading
from torch_py._dynamo.sources import Source


class Writing(Reading):
    """Writes to dictionaries, fields, cells and classes."""

    def change(self, value: Any) -> None:
        """Has to be called before native code changes a container."""
        if id(value) not in self._origins and (type(value) in SCALARS or isinstance(value, tuple)):
            return
        if not self._existed(value):
            return
        if not isinstance(value, (list, dict, set, deque, bytearray)):
            raise Break(f"a change of a {type(value).__name__}", "it cannot be undone")
        self.use(value)
        self.journal.note("whole", value)

    def write_key(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """``owner[key] = value``; ABSENT deletes."""
        key = self.key_in(owner, key)
        if self._existed(owner):
            self.read_key(owner, key)  # for the guard: what is restored has to be what was there
            self.journal.note_key(owner, key, value)
        set_key(owner, key, value)

    def append_to(self, owner: list[Any], elements: list[Any]) -> None:
        """Appends to a list that the program fills, as comprehensions do: what it has is not looked at."""
        self.grow(owner)
        owner += elements

    def grow(self, owner: list[Any]) -> None:
        """Has to be called before native code appends to a list, whatever it has."""
        if self._existed(owner):
            self.journal.note_tail(owner)

    def add_keys(self, owner: dict[Any, Any], entries: dict[Any, Any]) -> None:
        """Puts entries into a dictionary that the program fills."""
        for key in entries:
            if type(key) is not str:
                self.use_key(owner, key)
        if self._existed(owner):
            for key, value in entries.items():
                if dict.__contains__(owner, key):
                    self.read_key(owner, key)  # for the guard: it may be the same value
                self.journal.note_key(owner, key, value)
        owner.update(entries)

    def _existed(self, value: Any, what: str = "") -> bool:
        """Whether an object that is changed existed before; guards that it differs from all that are read."""
        if id(value) in self._new:
            return False
        self.guards.changed[id(value)] = self._known_origin(value, what)
        return True

    def _known_origin(self, value: Any, what: str = "") -> Source:
        """The origin of an object that is changed. Raises Break without one; `what` says what happens."""
        origin = self._origins.get(id(value))
        if origin is None:
            what = what or f"a change of a {type(value).__name__}"
            raise Break(what, "it is not known where the object came from")
        return origin

    def write_field(self, owner: Any, fields: dict[str, Any], name: str, value: Any) -> None:
        if self.is_new(owner) and self.origin_of(owner) is None:
            set_key(fields, name, value)
            return

        origin = self._known_origin(owner, f"assignment to .{name}")
        if isinstance(owner, ModuleType):
            self.fixed(fields, owner.__name__)
        self._own_fields(fields, origin)
        self.write_key(fields, name, value)

    def write_cell(self, cell: CellType, value: Any) -> None:
        if id(cell) not in self._new:
            self.journal.note("cell", cell)
        set_contents(cell, value)

    def write_class(self, owner: type, name: str, value: Any) -> None:
        """``owner.name = value`` for a class that existed before, which has an ordinary value there."""
        before = attributes.in_class(owner, name)
        self.read_class(owner, name, before)  # for the guard: what is restored has to be what was there
        self.fixed(owner, owner.__name__)
        self.journal.note("class", owner, name)
        type.__setattr__(owner, name, value)

    def write_slot(self, owner: Any, name: str, value: Any) -> None:
        if self._existed(owner, f"assignment to .{name}"):
            self.journal.note("slot", owner, name)
        set_attribute(object, owner, name, value)
