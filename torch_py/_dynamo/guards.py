"""What compiled code depends on, as rows of a guard program (see `_C._compiler.GuardProgram`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._dynamo.sources import Source
from torch_py._records import Fields

Check = tuple[str, Source, Any]


class Guards(Fields):
    """The checks that a capture collects. Each is noted once."""

    checks: list[Check] = []
    _seen: set[Any] = set()
    distinct: list[list[Source]] = []
    others: list[list[Source]] = []  # different objects, which may share memory
    storages: tuple[list[Source], tuple[int, ...]] | None = None  # and what row "storages" expects
    changed: dict[int, Source] = {}  # objects that are written to
    watched: dict[int, Any] = {}  # dictionaries and classes that fixed sources were read from

    def add(self, kind: str, source: Source, payload: Any = None) -> None:
        mark = (kind, id(source), _mark(kind, payload))
        if mark not in self._seen:
            self._seen.add(mark)
            self.checks.append((kind, source, payload))

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
    if kind == "alias":
        return id(payload)
    return None


class RowWriter(Fields):
    """Turns checks into rows. The first registers hold the arguments of the call: so many are there then."""

    registers: int
    facts_of: Callable[[Any], Any]
    _places: dict[int, int] = {}

    def rows(self, guards: Guards) -> list[Any]:
        """The rows: first what is cheap and fails often, then groups that are watched, then tensors of
        them."""
        free = [check for check in guards.checks if not check[1].is_fixed]
        fixed = [check for check in guards.checks if check[1].is_fixed]
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
    if source.kind == "constant":
        return ("const", place, source.key)
    if source.kind in ("call", "lookup"):
        return ("call", place, source.key)
    if source.kind == "cell":
        return ("cell", place, base)
    return (source.kind, place, base, source.key)


def _names(sources: list[Source]) -> str:
    texts = [source.text for source in sources]
    return ", ".join(texts[:4]) + (", ..." if len(texts) > 4 else "")


def _text_of(checks: list[Check]) -> str:
    return ", ".join(sorted({next(source.steps()).text for _, source, _ in checks})[:4])
