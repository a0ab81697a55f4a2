"""Groups the stores of a loop graph into nests.

A store joins a nest if it loops over the same positions and what it reads of the nest is from the same
position, or from the same row; axes are split until they fit. The score is the memory that both touch.
Candidates are nests that make or read what the store reads, so the search is not quadratic.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod
from operator import mul

from torch_py._inductor import config
from torch_py._inductor.indices import Axis, Linear, axes_of, contiguous, count_of, flattened, linear
from torch_py._inductor.inline import epochs
from torch_py._inductor.ir import Buffer, Expr, Load, loads
from torch_py._inductor.loops import ELEMENT, REDUCTION, ROW, Entry, Item, LoopGraph, Nest, Statement, Store

_LARGEST_NEST = 24  # items; larger ones take long to compile, and gain nothing
_LOOK_BACK = 24  # entries of the schedule

Space = tuple[list[Axis], list[Axis]]  # the outer and the inner axes


def fuse(graph: LoopGraph) -> list[Entry]:
    """Nests, calls and views in an order in which they can be executed."""
    fusion = _Fusion(graph)
    for statement in graph.statements:
        fusion.add(statement)
    return fusion.schedule


class _Fusion:
    def __init__(self, graph: LoopGraph) -> None:
        self.epochs = epochs(graph)
        self.schedule: list[Entry] = []
        self.makers: dict[Buffer, Entry] = {}  # the last entry that makes a memory
        self.largest = min(_LARGEST_NEST, config.max_fusion_size)

    def add(self, statement: Statement) -> None:
        entry: Entry = statement
        if isinstance(statement, Store):
            entry = self._nest_with(statement)
        else:
            self.schedule.append(statement)
        self.makers.update(dict.fromkeys(statement.makes(), entry))

    def _nest_with(self, store: Store) -> Nest:
        """The nest that a store has joined, or a new one."""
        epoch = self.epochs[id(store)]
        read = store.reads()
        candidates = [
            (_score(read, entry), number, entry)
            for number, entry in enumerate(self.schedule[-_LOOK_BACK:])
            if isinstance(entry, Nest)
            and entry.epoch == epoch
            and len(entry.items) < self.largest
            and not read.isdisjoint(entry.touched)
        ]
        for _, _, nest in sorted(candidates, key=lambda c: c[:2], reverse=True):
            place = self._place_for(store, nest)
            if place is not None and join(nest, store):
                self.schedule.remove(nest)
                self.schedule.insert(place, nest)
                return nest

        nest = Nest(epoch, *_space(store), name=store.buffer.name)
        nest.add(Item.of(store, ELEMENT if store.reduction is None else REDUCTION, {}))
        self.schedule.append(nest)
        return nest

    def _place_for(self, store: Store, nest: Nest) -> int | None:
        """Where in the schedule the nest can make all that it makes, and the store too; None for nowhere."""
        position = self.schedule.index(nest)
        following = self.schedule[position + 1 :]
        needed = [self.makers.get(memory) for memory in store.reads()]
        if not any(entry in following for entry in needed):
            return position
        makes = nest.makes()
        return None if any(makes & entry.reads() for entry in following) else len(self.schedule) - 1


def _score(read: set[Buffer], nest: Nest) -> int:
    """The bytes that a store reads and a nest reads or makes."""
    return sum(memory.count * memory.dtype.itemsize for memory in read & nest.touched)


def _space(store: Store) -> Space:
    outer = [axis for axis in store.axes if axis.size != 1]
    inner = [] if store.reduction is None else [axis for axis in store.reduction.axes if axis.size != 1]
    return outer, inner


def join(nest: Nest, store: Store) -> bool:
    """Adds a store to a nest; false if it does not fit, with nothing changed that matters."""
    outer, inner = _space(store)
    kind = _kind_in(nest, store, outer, inner)
    if kind is None:
        return False

    space = _common_space(nest, outer, inner, kind)
    if space is None:
        return False
    new_outer, new_inner = space
    finer = new_outer + new_inner
    own = _expressed(nest.axes, finer)
    theirs = _expressed(outer + inner, new_outer if kind == ROW else finer)

    item = Item.of(store, kind, theirs)
    if not _is_local(nest, item.value, own) or not _shares(nest, item.value, own):
        return False
    nest.replace(own)
    nest.outer = new_outer
    nest.inner = new_inner
    nest.add(item)
    return True


def _kind_in(nest: Nest, store: Store, outer: list[Axis], inner: list[Axis]) -> str | None:
    """What a store would be in a nest; None if its loops have other lengths."""
    rows = count_of(nest.outer)
    row = count_of(nest.inner)
    if store.reduction is not None:
        fits = count_of(outer) * count_of(inner) == rows * row and count_of(inner) > 1
        return REDUCTION if fits and (not nest.has_rows or count_of(outer) == rows) else None
    if not store.is_plain:
        return None
    if count_of(outer) == rows * row:
        return ELEMENT
    return ROW if count_of(outer) == rows and nest.has_rows else None


def _common_space(nest: Nest, outer: list[Axis], inner: list[Axis], kind: str) -> Space | None:
    """Outer and inner axes that are fine enough for a nest and a store; None if no such axes exist."""
    if kind == ROW:
        sizes = _common_axes(nest.outer, outer)
        return None if sizes is None else (axes_of(sizes), [*nest.inner])

    sizes = _common_axes(nest.axes, outer + inner)
    if sizes is None:
        return None
    # The last axes are those of a row, which has as many positions as before.
    boundary = count_of(inner) if kind == REDUCTION else count_of(nest.inner)
    split = next(n for n in range(len(sizes) + 1) if prod(sizes[n:]) == boundary)
    return axes_of(sizes[:split]), axes_of(sizes[split:], "rstuvw")


def _is_local(nest: Nest, value: Expr, axes: dict[Axis, Linear]) -> bool:
    """Whether a value reads what a nest makes only at the position where it was made."""
    for load in loads(value):
        item = next((item for item in nest.items if item.buffer.memory is load.buffer.memory), None)
        if item is not None and (item.buffer is not load.buffer or _flat(load) != _flat(item).replaced(axes)):
            return False
    return True


def _shares(nest: Nest, value: Expr, axes: dict[Axis, Linear]) -> bool:
    """Whether a value reads an element at the position at which the nest makes or reads it."""
    wanted = {(load.buffer, _flat(load)) for load in loads(value)}
    buffers = {buffer for buffer, _ in wanted}
    if any(item.buffer in buffers for item in nest.items):
        return True
    read = (load for item in nest.items for load in loads(item.value) if load.buffer in buffers)
    return any((load.buffer, _flat(load).replaced(axes)) in wanted for load in read)


def _flat(element: Load | Item) -> Linear:
    """Which element of a buffer it is, in the order of a row."""
    return flattened(element.index, contiguous(element.buffer.sizes))


# Loops of equal length as one
# ------------------------------------------------------------


def _common_axes(first: Sequence[Axis], second: Sequence[Axis]) -> list[int] | None:
    """The sizes of axes from which both can be made by joining neighbours; None if no such sizes exist.

    Of 6 and 4 positions, and of 3 and 8, they are 3, 2 and 4.
    """
    # How many positions the last axis has, the last two together, ...
    ends = {1}
    for axes in (first, second):
        ends.update(accumulate((axis.size for axis in reversed(axes)), mul))
    steps = list(pairwise(sorted(ends)))
    return None if any(b % a for a, b in steps) else [b // a for a, b in reversed(steps)]


def _expressed(axes: Sequence[Axis], finer: Sequence[Axis]) -> dict[Axis, Linear]:
    """Axes in terms of others of the same number of positions, from which they are made by joining."""
    result: dict[Axis, Linear] = {}
    rest = list(finer)
    for axis in reversed(axes):
        position = Linear(0)
        step = 1
        while step < axis.size:
            part = rest.pop()
            position = position + linear(part) * step
            step *= part.size
        result[axis] = position
    return result
