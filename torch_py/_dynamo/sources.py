"""What compiled code depends on: where values come from (`Source`), and checks of them as rows of a guard
program (see `_C._compiler.GuardProgram`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch_py import _C
from torch_py._records import Fields
from torch_py._shapes.arguments import reach
from torch_py._tensor import Tensor


class Source:
    """One step to a value, after the steps to its `base`.

    kind       key               the value is
    argument   position          an argument of the compiled function
    constant   the object        that very object
    attr       name              an attribute of the base
    item       position          an element of a list or tuple
    key        key               an entry of a dictionary
    cell       None              what is in the cell
    call       a function        what it returns, called without arguments
    lookup     a function        the same, for functions that read from a class which is watched

    `text` is how messages call it. A source is *fixed* if it is an entry of a particular dictionary, or of a
    particular class: these can be watched, so that what was read from them need not be read again. Those of
    modules are noted, as tensors there keep their sizes. `reader` reads an element of a container whose class
    has a `__getitem__` of its own.
    """

    __slots__ = ("base", "is_fixed", "is_of_module", "key", "kind", "reader", "text")

    def __init__(self, kind: str, base: Source | None, key: Any, text: str) -> None:
        self.kind = kind
        self.base = base
        self.key = key
        self.text = text
        self.reader: Callable[..., Any] | None = None
        self.is_fixed = self._fixed()
        self.is_of_module: bool = base is not None and base.is_of_module

    def _fixed(self) -> bool:
        if self.kind == "constant":
            return isinstance(self.key, (dict, type))
        if self.kind == "lookup":
            return True
        if self.base is None or not self.base.is_fixed:
            return False
        if self.base.kind == "constant":
            return self.kind == ("key" if isinstance(self.base.key, dict) else "attr")
        return self.kind == "attr" and self.key == "__func__"

    def __repr__(self) -> str:
        return self.text

    def as_name(self) -> str:
        """The text as an identifier, perhaps an empty one: the variable's name, with what follows."""
        text = re.sub(r"^L\['(\w+)'\]", r"\1", self.text)
        return re.sub(r"\W+", "_", text).strip("_")

    def steps(self) -> Iterator[Source]:
        """This source and those before it, the first one first."""
        if self.base is not None:
            yield from self.base.steps()
        yield self


class Sources:
    """Makes sources, one for each place: equal places are the same object."""

    def __init__(self) -> None:
        self._known: dict[Any, Source] = {}

    def argument(self, position: int, name: str) -> Source:
        return self._get("argument", None, position, f"L[{name!r}]")

    def constant(self, value: Any, text: str) -> Source:
        return self._get("constant", None, value, text, id(value))

    def attr(self, base: Source, name: str) -> Source:
        return self._get("attr", base, name, f"{base.text}.{name}")

    def item(self, base: Source, position: int, owner: Any = ()) -> Source:
        found = self._get("item", base, position, f"{base.text}[{position}]")
        found.reader = _reader_of(owner)
        return found

    def key(self, base: Source, key: Any, owner: dict[Any, Any]) -> Source:
        found = self._get("key", base, key, f"{base.text}[{_short(key)}]")
        found.reader = _reader_of(owner)
        return found

    def cell(self, base: Source) -> Source:
        return self._get("cell", base, None, base.text if base.kind == "constant" else f"{base.text}()")

    def call(self, text: str, function: Callable[..., Any], *args: Any, kind: str = "call") -> Source:
        """What a function returns for these arguments."""
        return self._get(kind, None, partial(function, *args), text, (function, *map(id, args)))

    def _get(self, kind: str, base: Source | None, key: Any, text: str, identity: Any = None) -> Source:
        place = (kind, id(base), identity or (type(key), key))
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = Source(kind, base, key, text)
        return found


def _reader_of(owner: Any) -> Callable[..., Any] | None:
    own = next(kind.__getitem__ for kind in (dict, list, tuple) if isinstance(owner, kind))
    return None if type(owner).__getitem__ is own else own


def _short(key: Any) -> str:
    text = repr(key) if type(key) in (str, int, float, bool, tuple, type(None)) else f"a {type(key).__name__}"
    return text if len(text) < 60 else text[:57] + "..."


Check = tuple[str, Source, Any]


class Guards(Fields):
    """The checks that a capture collects. Each is noted once."""

    checks: dict[Any, Check] = {}  # by what they are about
    distinct: list[list[Source]] = []
    others: list[list[Source]] = []  # different objects, which may share memory
    storages: tuple[list[Source], tuple[int, ...]] | None = None  # and what row "storages" expects
    changed: dict[int, Source] = {}  # objects that are written to
    watched: dict[int, Any] = {}  # dictionaries and classes that fixed sources were read from

    def add(self, kind: str, source: Source, payload: Any = None) -> None:
        self.checks.setdefault((kind, id(source), _mark(kind, payload)), (kind, source, payload))

    def add_distinct(self, sources: list[Source]) -> None:
        """The values of all of them are different objects, and tensors that share no element."""
        if len(sources) > 1:
            self.distinct = [row for row in self.distinct if not set(row) <= set(sources)]
            self.distinct.append(sources)

    def watch(self, owner: Any) -> None:
        self.watched[id(owner)] = owner


def _mark(kind: str, payload: Any) -> Any:
    if kind in ("no_attr", "no_key"):
        return (type(payload), payload)
    return id(payload) if kind == "alias" else None


class RowWriter(Fields):
    """Turns checks into rows. The first registers hold the arguments of the call: so many are there then."""

    registers: int
    facts_of: Callable[[Any], Any]
    _places: dict[int, int] = {}

    def rows(self, guards: Guards) -> list[Any]:
        """The rows: first what is cheap and fails often, then groups that are watched, then tensors of
        them."""
        free = [check for check in guards.checks.values() if not check[1].is_fixed]
        fixed = [check for check in guards.checks.values() if check[1].is_fixed]
        of_state = [check for check in fixed if check[0] == "tensor"]
        of_fields = [check for check in fixed if check[0] != "tensor"]

        rows = self._written(free)
        if of_fields:
            # Rows inside of a group run only when something changed, so they read with registers of their
            # own.
            inner = RowWriter(self.registers, self.facts_of)
            inside = inner._written(of_fields)
            self.registers = inner.registers
            rows.append(("watched", tuple(guards.watched.values()), tuple(inside), _text_of(of_fields)))
        rows += self._written(of_state)

        groups: list[tuple[Any, ...]] = [("distinct", sources) for sources in guards.distinct]
        groups += [("others", sources) for sources in guards.others]
        if guards.storages is not None:
            groups.append(("storages", *guards.storages))
        for kind, sources, *expected in groups:
            registers = tuple(self._register(source, rows) for source in sources)
            rows.append((kind, registers, *expected, _names(sources)))
        return rows

    def _written(self, checks: list[Check]) -> list[Any]:
        rows: list[Any] = []
        for kind, source, payload in checks:
            register = self._register(source, rows)
            text = source.text
            if kind == "tensor":
                payload = self.facts_of(payload)
            elif kind == "alias":
                text = f"{text} is {payload.text}"
                payload = self._register(payload, rows)
            rows.append((kind, register, payload, text))
        return rows

    def _register(self, source: Source, rows: list[Any]) -> int:
        """The register with the value of `source`; appends the rows that read it."""
        place = self._places.get(id(source))
        if place is not None:
            return place
        if source.kind == "argument":
            place = source.key
        else:
            base = None if source.base is None else self._register(source.base, rows)
            place = self.registers
            self.registers += 1
            rows.append(_reading_row(source, place, base))
        self._places[id(source)] = place
        return place


def _reading_row(source: Source, place: int, base: int | None) -> tuple[Any, ...]:
    if base is None:
        return ("const" if source.kind == "constant" else "call", place, source.key)
    return ("cell", place, base) if source.kind == "cell" else (source.kind, place, base, source.key)


def _names(sources: list[Source]) -> str:
    texts = [source.text for source in sources]
    return ", ".join(texts[:4]) + (", ..." if len(texts) > 4 else "")


def _text_of(checks: list[Check]) -> str:
    return ", ".join(sorted({next(source.steps()).text for _, source, _ in checks})[:4])


# Which tensors of the program share memory, and elements


def overlap(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors may share elements."""
    if a.layout is not _C.strided or b.layout is not _C.strided or address_of(a) != address_of(b):
        return False
    extents = [(t.storage_offset() * t.itemsize, reach(t.shape, t.stride()) * t.itemsize) for t in (a, b)]
    (first, first_length), (second, second_length) = sorted(extents)
    return second < first + first_length and second_length > 0


def may_share(a: Tensor, b: Tensor) -> bool:
    """Whether tensors with the same elements have no history, or one that they share."""
    bases = [tensor._base if tensor._is_view() else tensor for tensor in (a, b)]
    return bases[0] is bases[1] or not (a.requires_grad or b.requires_grad)


def address_of(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata
