"""Puts the values of tensors into the loops that read them, so that the tensors are not made.

A tensor disappears where computing it again costs no more than reading it: with one reader, or a value that
takes one load and next to no arithmetic. What several loops read is for fuse.py to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torch_py._functorch.aot.nodes import is_random
from torch_py._inductor.indices import Linear, count_of
from torch_py._inductor.ir import Buffer, Expr, cost, loads, named, rewritten, walk, with_loads
from torch_py._inductor.loops import Extern, LoopGraph, Statement, Store

_LARGEST_VALUE = 160  # parts of one value; larger ones are stored
_CHEAP_ENOUGH = 2


def readers(statements: Iterable[Any]) -> dict[Buffer, list[Any]]:
    """For every memory, the statements, or nests of them, that read it, in order."""
    found: dict[Buffer, list[Any]] = {}
    for statement in statements:
        for memory in statement.reads():
            found.setdefault(memory, []).append(statement)
    return found


def _at(store: Store, index: Sequence[Linear]) -> Expr:
    """The value that a plain store has at an index."""
    return named(store.buffer.name, rewritten(store.value, dict(zip(store.axes, index))))


def inline(graph: LoopGraph) -> None:
    """Removes the tensors that are not worth making from a loop graph."""
    remove_unread(graph)
    kept = graph.returned
    found = readers(graph.statements)
    epoch = epochs(graph)
    gone: set[int] = set()

    for store in graph.statements:
        if not isinstance(store, Store) or not store.is_plain or store.reduction or store.buffer in kept:
            continue
        reading = found.get(store.buffer, [])
        if any(epoch[id(reader)] != epoch[id(store)] for reader in reading) or not _pays(store, reading):
            continue

        gone.add(id(store))
        for reader in reading:
            reader.value = with_loads(reader.value, store.buffer, lambda load: _at(store, load.index))  # noqa: B023
            for memory in reader.reads():
                entries = found.setdefault(memory, [])
                if reader not in entries:
                    entries.append(reader)

    graph.statements = [statement for statement in graph.statements if id(statement) not in gone]


def _pays(store: Store, reading: list[Statement]) -> bool:
    """Whether all readers can take the value of a store, which costs no more than reading it."""
    parts = sum(1 for _ in walk(store.value))
    for reader in reading:
        if not isinstance(reader, Store) or parts + sum(1 for _ in walk(reader.value)) > _LARGEST_VALUE:
            return False

    sources = {load.buffer for load in loads(store.value)}
    if not reading or (cost(store.value) <= _CHEAP_ENOUGH and len(sources) <= 1):
        return True
    return len(reading) == 1 and _work(store, reading[0]) <= store.buffer.count


def _work(store: Store, reader: Any) -> int:
    """How often the reader would compute the value."""
    places = [load for load in loads(reader.value) if load.buffer is store.buffer]
    reduced = () if reader.reduction is None else reader.reduction.axes
    return len(places) * count_of([*reader.axes, *reduced])


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
        if _is_needed(statement, needed):
            kept.append(statement)
            needed |= statement.reads()
    graph.statements = kept[::-1]


def _is_needed(statement: Statement, needed: set[Buffer]) -> bool:
    if not isinstance(statement, Extern):
        return statement.buffer.memory in needed
    # Later random numbers depend on a call that draws some.
    if statement.writes or not statement.made() or is_random(statement.operator):
        return True
    return any(buffer.memory in needed for buffer in statement.made())
