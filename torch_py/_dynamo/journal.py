"""Writes to objects that existed before the capture: they are made for real, and undone at the end.

What differs then is what compiled code has to write.
"""

from __future__ import annotations

from collections import OrderedDict
from types import CellType
from typing import Any

from torch_py._records import Fields


class Marker(Fields):
    """Takes the place of a value of the program."""

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


ABSENT: Any = Marker("absent")  # of a place that has, or had, no value


class Entry(Fields):
    """The state of one place before its first write. `kind` is "key", "slot", "class", "whole", or "tail"
    for what is appended to a list, after its first `key` elements.

    A key that was removed and came back is `moved`: it now comes after the others.
    """

    kind: str
    owner: Any
    key: Any
    before: Any
    moved: bool = False

    def now(self) -> Any:
        if self.kind == "key":
            return dict.get(self.owner, self.key, ABSENT)
        if self.kind == "slot":
            try:
                return object.__getattribute__(self.owner, self.key)
            except (AttributeError, ValueError):  # a ValueError by cells
                return ABSENT
        if self.kind == "class":
            return self.owner.__dict__.get(self.key, ABSENT)
        if self.kind == "tail":
            return copy_of(list.__getitem__(self.owner, slice(self.key, None)))
        return copy_of(self.owner)

    def put(self, value: Any) -> None:
        """Gives the place the state that `now` has returned."""
        if self.kind in ("whole", "tail"):
            replace_contents(self.owner, value, self.key)
        elif self.kind == "key":
            set_key(self.owner, self.key, value)
        else:
            set_attribute(object if self.kind == "slot" else type, self.owner, self.key, value)


class Journal(Fields):
    """The first state of every place that was written to, in the order of the first writes."""

    entries: dict[Any, Entry] = {}
    # Of the keys of dictionaries, before the first was removed.
    _orders: dict[int, tuple[dict[Any, Any], list[Any]]] = {}

    def has(self, kind: str, owner: Any, key: Any = None) -> bool:
        return (kind, id(owner), key) in self.entries or ("whole", id(owner), None) in self.entries

    def note(self, kind: str, owner: Any, key: Any = None) -> None:
        """Has to be called before a write."""
        if self.has(kind, owner, key):
            return
        entry = Entry(kind, owner, key, None)
        entry.before = entry.now()
        self.entries[kind, id(owner), key] = entry

    def note_key(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """Has to be called before ``owner[key] = value``, or before a key is removed (ABSENT)."""
        if self.has("whole", owner):
            return
        entry = self.entries.get(("key", id(owner), key))
        if value is ABSENT:
            self._orders.setdefault(id(owner), (owner, keys_of(owner)))
        elif entry is not None and not dict.__contains__(owner, key):
            entry.moved = True
            self.entries["key", id(owner), key] = self.entries.pop(("key", id(owner), key))
        self.note("key", owner, key)

    def note_tail(self, owner: list[Any]) -> None:
        """Has to be called before elements are appended to a list."""
        if not self.has("tail", owner):
            self.entries["tail", id(owner), None] = Entry("tail", owner, length_of(owner), Snapshot([]))

    def length_before(self, owner: Any) -> int:
        """The number of elements of a list or tuple without those that were appended."""
        entry = self.entries.get(("tail", id(owner), None))
        return length_of(owner) if entry is None else entry.key

    def keys_before(self, owner: dict[Any, Any]) -> tuple[Any, ...]:
        """The keys that a dictionary had before the first write."""
        known = self._orders.get(id(owner))
        keys = keys_of(owner) if known is None else known[1]
        entries = [(key, self.entries.get(("key", id(owner), key))) for key in keys]
        return tuple(key for key, entry in entries if entry is None or entry.before is not ABSENT)

    def checkpoint(self) -> list[tuple[Any, Any]]:
        """The places that were written to so far, and what is there now."""
        return [(place, entry.now()) for place, entry in self.entries.items()]

    def back_to(self, checkpoint: list[tuple[Any, Any]]) -> list[Any]:
        """Undoes what was written since then, but for the order of keys; gives the changed objects."""
        known = dict(checkpoint)
        changed = []
        for place, entry in reversed(list(self.entries.items())):
            before = known.get(place, entry.before)
            if not same(before, entry.now()):  # another entry may just have brought something back
                entry.put(before)
                changed.append(entry.owner)
            if place not in known:
                del self.entries[place]
        return changed

    def undo(self) -> list[tuple[Entry, Any]]:
        """Restores everything; gives the entries that compiled code has to write, with what was there at the
        end."""
        changed = [(entry, entry.now()) for entry in self.entries.values()]
        self.back_to([])
        for owner, keys in self._orders.values():
            present = [key for key in keys if dict.__contains__(owner, key)]
            if present != keys_of(owner):
                replace_contents(owner, Snapshot([(key, dict.__getitem__(owner, key)) for key in present]))
        return [(entry, now) for entry, now in changed if _is_written(entry, now)]


def _is_written(entry: Entry, now: Any) -> bool:
    """Containers as a whole have the same contents in all calls; of other places the value is not known."""
    if entry.kind in ("whole", "tail"):
        return not same(entry.before, now)
    return not entry.before is now is ABSENT


def same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    if isinstance(before, Snapshot) and isinstance(now, Snapshot):
        pairs = zip(before.items, now.items)
        return len(before.items) == len(now.items) and all(a[0] is b[0] and a[1] is b[1] for a, b in pairs)
    return False


class Snapshot(Fields):
    """The contents of a container: elements, or pairs of a dictionary."""

    items: list[Any]


def _builtin_kind(owner: dict[Any, Any]) -> Any:
    return OrderedDict if isinstance(owner, OrderedDict) else dict


def length_of(sequence: list[Any] | tuple[Any, ...]) -> int:
    """The number of elements, whatever `__len__` a subclass has."""
    return tuple.__len__(sequence) if isinstance(sequence, tuple) else list.__len__(sequence)


def keys_of(owner: dict[Any, Any]) -> list[Any]:
    """The keys in the order that the program sees: an OrderedDict keeps its own."""
    return list(_builtin_kind(owner).__iter__(owner))


def set_key(owner: dict[Any, Any], key: Any, value: Any) -> None:
    """``owner[key] = value`` as the built-in class does it; ABSENT deletes."""
    kind = _builtin_kind(owner)
    if value is ABSENT:
        kind.__delitem__(owner, key)
    else:
        kind.__setitem__(owner, key, value)


def set_attribute(base: Any, owner: Any, name: str, value: Any) -> None:
    """``owner.name = value`` as `base`, object or type, does it; ABSENT deletes."""
    if value is ABSENT:
        base.__delattr__(owner, name)
    else:
        base.__setattr__(owner, name, value)


def copy_of(container: Any) -> Snapshot:
    if isinstance(container, dict):
        return Snapshot([(key, dict.__getitem__(container, key)) for key in keys_of(container)])
    items = list.__iter__(container) if isinstance(container, list) else container
    return Snapshot([(item, None) for item in items])


def replace_contents(container: Any, snapshot: Snapshot, start: int | None = None) -> None:
    """Gives a container the contents of a snapshot; a list from an element on."""
    if isinstance(container, dict):
        _builtin_kind(container).clear(container)
        for key, value in snapshot.items:
            set_key(container, key, value)

    elif isinstance(container, list):
        list.__setitem__(container, slice(start, None), [item for item, _ in snapshot.items])
    elif isinstance(container, set):
        set.clear(container)
        set.update(container, [item for item, _ in snapshot.items])
    else:  # a deque or bytearray
        container.clear()
        container.extend(item for item, _ in snapshot.items)


def contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT
