"""Puts the values of tensors into the loops that read them, so that the tensors are not made.

A tensor disappears where computing it again costs no more than reading it: with one reader, or a value that
takes one load and next to no arithmetic. What several loops read is for fuse.py to decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._inductor.indices import Linear, count_of
from torch_py._inductor.ir import (
    Buffer,
    Cast,
    Const,
    Expr,
    Guard,
    Index,
    Load,
    Map,
    Named,
    loads,
    rewritten,
    walk,
)
from torch_py._inductor.statements import Extern, LoopGraph, Statement, Store, View
from torch_py._tags import Tag

# Functions that cost no more than a few additions. All others count as _DEAR.
_CHEAP = frozenset(
    "+ - * < <= == != > >= and or not where negative abs maximum minimum relu sign isnan isinf conj "
    "bitwise_and bitwise_or bitwise_xor bitwise_not rounded fmax fmin copysign".split()
)
_DEAR = 20
_LARGEST_VALUE = 160  # parts of one value; larger ones are stored
_CHEAP_ENOUGH = 2


def cost(value: Expr) -> int:
    """About how many additions a value takes, loads not counted."""
    total = 0
    for part in walk(value):
        if isinstance(part, Map):
            total += 1 if part.function in _CHEAP else 4 if part.function in ("/", "sqrt") else _DEAR
        elif isinstance(part, (Cast, Guard)):
            total += 1
    return total


def readers(graph: LoopGraph) -> dict[Buffer, list[Statement]]:
    """For every memory, the statements that read it, in order."""
    found: dict[Buffer, list[Statement]] = {}
    for statement in graph.statements:
        for memory in statement.reads():
            found.setdefault(memory, []).append(statement)
    return found


def inlined(value: Expr, store: Store) -> Expr:
    """`value`, with what `store` stores in place of loads of its buffer."""

    def change(part: Expr) -> Expr | None:
        if isinstance(part, Load) and part.buffer is store.buffer:
            return at(store, part.index)
        return None

    return rewritten(value, {}, change)


def at(store: Store, index: Sequence[Linear]) -> Expr:
    """The value that a plain store has at an index."""
    value = rewritten(store.value, dict(zip(store.axes, index)))
    if isinstance(value, (Const, Named, Load, Index)):
        return value
    return Named(store.buffer.name, value, store.line)


class Inlining:
    """One run over a graph."""

    def __init__(self, graph: LoopGraph) -> None:
        self.graph = graph
        self.kept = graph.returned
        self.epochs = epochs(graph)

    def run(self) -> None:
        found = readers(self.graph)
        statements = list(self.graph.statements)
        gone: set[int] = set()

        for statement in statements:
            if not isinstance(statement, Store) or not self._can_go(statement):
                continue

            reading = found.get(statement.buffer, [])
            if self._pays(statement, reading):
                for reader in reading:
                    assert isinstance(reader, Store)
                    reader.value = inlined(reader.value, statement)
                    for memory in reader.reads():
                        entries = found.setdefault(memory, [])
                        if reader not in entries:
                            entries.append(reader)
                gone.add(id(statement))

        self.graph.statements = [s for s in statements if id(s) not in gone]

    def _can_go(self, store: Store) -> bool:
        return store.is_plain and store.reduction is None and store.buffer not in self.kept

    def _pays(self, store: Store, reading: list[Statement]) -> bool:
        if not all(self._can_take(store, reader) for reader in reading):
            return False
        price = cost(store.value)
        sources = {load.buffer for load in loads(store.value)}
        if price <= _CHEAP_ENOUGH and len(sources) <= 1:
            return True
        if len(reading) > 1:
            return False
        return not reading or self._work(store, reading[0]) <= store.buffer.count

    def _can_take(self, store: Store, reader: Statement) -> bool:
        if not isinstance(reader, Store) or self.epochs[id(reader)] != self.epochs[id(store)]:
            return False
        return sum(1 for _ in walk(reader.value)) + sum(1 for _ in walk(store.value)) <= _LARGEST_VALUE

    def _work(self, store: Store, reader: Statement) -> int:
        """How often the reader would compute the value."""
        assert isinstance(reader, Store)
        places = [load for load in loads(reader.value) if load.buffer is store.buffer]
        return len(places) * iterations(reader)


def iterations(store: Store) -> int:
    """How often the loop of a store runs."""
    reduced = () if store.reduction is None else store.reduction.axes
    return count_of([*store.axes, *reduced])


def epochs(graph: LoopGraph) -> dict[int, int]:
    """By the id of a statement, the number of calls before it that change tensors in place.

    Nothing moves from before such a call to after it, or back.
    """
    found = {}
    epoch = 0
    for statement in graph.statements:
        changes = isinstance(statement, Extern) and bool(statement.writes)
        epoch += changes
        found[id(statement)] = epoch
        epoch += changes
    return found


def remove_unread(graph: LoopGraph) -> None:
    """Removes statements that make tensors which nothing reads. Calls in place and random ones stay."""
    needed = graph.returned
    kept: list[Statement] = []
    for statement in reversed(graph.statements):
        if is_needed(statement, needed):
            kept.append(statement)
            needed |= statement.reads()
    graph.statements = kept[::-1]


def is_needed(statement: Statement, needed: set[Buffer]) -> bool:
    if isinstance(statement, Store):
        return statement.buffer.memory in needed
    if isinstance(statement, View):
        return statement.buffer.memory in needed
    assert isinstance(statement, Extern)
    if statement.writes or not statement.made():
        return True
    if Tag.nondeterministic_seeded in getattr(statement.operator, "tags", ()):
        return True  # later random numbers depend on it
    return any(buffer.memory in needed for buffer in statement.made())


def inline(graph: LoopGraph) -> None:
    """Removes the tensors that are not worth making from a loop graph."""
    remove_unread(graph)
    Inlining(graph).run()
