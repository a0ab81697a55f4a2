"""Decides how the items of a nest are computed: in which pass, where their values are, and along which axis
vectors lie.

Axes of loops of equal length are split until they fit, and joined again where possible.

A graph that changes inputs ends with copies of values that nests have made. Where the nest reads the old
numbers of the input only at the position that it writes, and nothing reads them later, the value has the
memory of the input from the start, and the copy disappears (`settle`):

    for i: new[i] = x[i] + 1; x.copy_(new)  ->  for i: x[i] = x[i] + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.indices import Axis, Linear, count_of, flattened, linear
from torch_py._inductor.inline import cost
from torch_py._inductor.ir import Buffer, Expr, Load, Named, loads, rewritten
from torch_py._inductor.nests import ELEMENT, REDUCTION, ROW, Entry, Item, Nest, inner_positions, positions
from torch_py._inductor.statements import Extern, View
from torch_py._ops import ops
from torch_py.utils._pytree import tree_map


def common_axes(first: Sequence[Axis], second: Sequence[Axis]) -> list[int] | None:
    """The sizes of axes from which both can be made by joining neighbours; None if no such sizes exist.

    Of 6 and 4 positions, and of 3 and 8, they are 3, 2 and 4.
    """
    ends = sorted(set(_ends(first)) | set(_ends(second)))
    sizes = []
    previous = 1
    for end in ends:
        if end % previous:
            return None
        sizes.append(end // previous)
        previous = end
    return [size for size in reversed(sizes) if size != 1]


def _ends(axes: Sequence[Axis]) -> list[int]:
    """How many positions the last axis has, the last two together, ..."""
    found = []
    total = 1
    for axis in reversed(axes):
        total *= axis.size
        found.append(total)
    return found


def expressed(axes: Sequence[Axis], finer: Sequence[Axis]) -> dict[Axis, Linear]:
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


def joined(axes: list[Axis], items: Sequence[Item]) -> tuple[list[Axis], dict[Axis, Linear]]:
    """Axes with neighbours joined where all positions allow it, and the old ones in terms of these."""
    every = {p for outer in positions(items) for p in inner_positions(outer)}
    groups: list[list[Axis]] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if groups and all(p.factor(groups[-1][-1]) == p.factor(axis) * axis.size for p in every):
            groups[-1].append(axis)
        else:
            groups.append([axis])

    result: list[Axis] = []
    replaced: dict[Axis, Linear] = {axis: Linear(0) for axis in axes if axis.size == 1}
    for group in groups:
        whole = group[0] if len(group) == 1 else Axis(group[0].name, count_of(group))
        result.append(whole)
        if len(group) > 1:
            _split_positions(whole, group, replaced)
    return result, replaced


def _split_positions(whole: Axis, group: Sequence[Axis], replaced: dict[Axis, Linear]) -> None:
    position = linear(whole)
    for axis in reversed(group[1:]):
        replaced[axis] = position % axis.size
        position = position // axis.size
    replaced[group[0]] = position


_CHEAP_TO_REPEAT = 4  # additions
_LARGEST_SCRATCH = 65536  # bytes of a row that is kept


def arrange(nest: Nest, needed: set[Buffer]) -> None:
    """Completes a nest. `needed` are the memories that others read."""
    _set_passes(nest)
    _place_items(nest, needed)
    _order_axes(nest)
    for part in ("outer", "inner"):
        axes, replaced = joined(getattr(nest, part), nest.items)
        nest.replace(replaced)
        setattr(nest, part, axes)
    if is_columns(nest):
        for item in nest.items:
            if item.place == "scratch":
                item.place = "memory"


def _set_passes(nest: Nest) -> None:
    """One pass after that of each reduction that an item reads, and none before what it reads."""
    for item in nest.items:
        item.pass_ = 0
        for load in loads(item.value):
            maker = nest.made(load.buffer)
            if maker is not None and maker is not item:
                after = maker.pass_ + (maker.kind == REDUCTION)
                item.pass_ = max(item.pass_, after)


def _place_items(nest: Nest, needed: set[Buffer]) -> None:
    """Where values are: in memory if others read them, else in variables, a scratch row, or nowhere."""
    for item in list(nest.items):
        is_needed = item.buffer.memory in needed or item.is_partial
        reading = [o for o in nest.items if o is not item and _reads(o, item.buffer)]
        if item.kind in (ROW, REDUCTION):
            item.place = "memory" if is_needed else "local"
            continue

        is_cheap = cost(item.value) <= _CHEAP_TO_REPEAT
        for reader in reading:
            if reader.pass_ == item.pass_ or (is_cheap and not is_needed):
                _inline(item, reader)
        if not is_needed:
            if not any(_reads(o, item.buffer) for o in nest.items):
                nest.items.remove(item)
            elif _row_bytes(nest, item) <= _LARGEST_SCRATCH:
                item.place = "scratch"


def _row_bytes(nest: Nest, item: Item) -> int:
    return count_of(nest.inner) * item.buffer.dtype.itemsize


def _reads(item: Item, buffer: Buffer) -> bool:
    return any(load.buffer is buffer for load in loads(item.value))


def _inline(item: Item, reader: Item) -> None:
    def change(part: Expr) -> Expr | None:
        if isinstance(part, Load) and part.buffer is item.buffer:
            return Named(item.buffer.name, item.value, item.line)
        return None

    reader.value = rewritten(reader.value, {}, change)


def _order_axes(nest: Nest) -> None:
    """Puts the outer axes in the order of memory, that of the first store."""
    first = nest.items[0]
    place = flattened(first.index, first.buffer.strides)
    steps = {axis: abs(place.factor(axis)) for axis in nest.outer}
    if not nest.has_rows and all(steps.values()):
        nest.outer.sort(key=steps.__getitem__, reverse=True)


def is_columns(nest: Nest) -> bool:
    """Whether neighbours in memory are reduced to neighbours, rather than to one number."""
    if not nest.inner or not nest.outer:
        return False
    last_row, last_outer = nest.inner[-1], nest.outer[-1]
    along_rows = along_columns = 0
    for item in nest.items:
        if item.kind == REDUCTION:
            for load in loads(item.value):
                place = flattened(load.index, load.buffer.strides)
                along_rows += _is_step(place, last_row)
                along_columns += _is_step(place, last_outer)
    return along_columns > along_rows


def _is_step(place: Linear, axis: Axis) -> bool:
    return place.factor(axis) == 1


def settle(schedule: list[Entry], outputs: set[Buffer]) -> None:
    """Removes copies from a schedule of complete nests. `outputs` are the memories that the graph returns."""
    for copy in [entry for entry in schedule if _is_copy(entry)]:
        target, value = copy.args  # type: ignore[union-attr]
        if value not in outputs and _has_place(schedule, target, value):
            schedule.remove(copy)
            for entry in schedule:
                _move(entry, value, target)


def _is_copy(entry: Entry) -> bool:
    if not isinstance(entry, Extern) or entry.operator is not ops.aten.copy_.default:
        return False
    target, value = entry.args
    return target.kind == "input" and isinstance(value, Buffer) and value.base is None


def _has_place(schedule: Sequence[Entry], target: Buffer, value: Buffer) -> bool:
    """Whether a value can be made where the input is."""
    if value.kind != "temporary" or target.facts != value.facts:
        return False
    place = next(number for number, entry in enumerate(schedule) if value in entry.makes())
    nest = schedule[place]
    if not isinstance(nest, Nest) or target in nest.makes():
        return False
    following = schedule[place + 1 :]
    touching = [entry for entry in following if target in entry.reads() | entry.makes()]
    # Of what follows, only the copy itself touches the input.
    return len(touching) == 1 and _is_written_last(nest, target, value)


def _is_written_last(nest: Nest, target: Buffer, value: Buffer) -> bool:
    """Whether a nest reads elements of the input before it makes those of the value, and only at their
    positions.
    """
    maker = nest.made(value)
    if maker is None or maker.kind != ELEMENT or maker.is_partial:
        return False

    place = flattened(maker.index, value.strides)
    is_late = False
    for item in nest.items:
        for load in loads(item.value):
            if load.buffer.memory is target:
                if load.buffer is not target or flattened(load.index, target.strides) != place:
                    return False
                is_late = is_late or _is_after(nest, item, maker)
    return not is_late or _is_postponed(nest, maker)


def _is_after(nest: Nest, item: Item, other: Item) -> bool:
    order = nest.items.index
    return (item.pass_, order(item)) > (other.pass_, order(other))


def _is_postponed(nest: Nest, item: Item) -> bool:
    """Makes an item the last of its pass, if that changes nothing of what it reads, and what reads it."""
    following = [other for other in nest.items if _is_after(nest, other, item)]
    read = {load.buffer.memory for load in loads(item.value)}
    for other in following:
        reads_item = any(load.buffer is item.buffer for load in loads(other.value))
        if other.pass_ != item.pass_ or reads_item or other.buffer.memory in read:
            return False
    nest.items.remove(item)
    nest.items.append(item)
    return True


def _move(entry: Entry, value: Buffer, target: Buffer) -> None:
    """Gives a value the memory of an input, in one entry."""

    def placed(found: Any) -> Any:
        return target if found is value else found

    def change(part: Any) -> Any:
        return Load(target, part.index) if isinstance(part, Load) and part.buffer is value else None

    if isinstance(entry, Nest):
        for item in entry.items:
            item.buffer = placed(item.buffer)
            item.value = rewritten(item.value, {}, change)
        if value in entry.touched:
            entry.touched = {placed(memory) for memory in entry.touched}
    elif isinstance(entry, Extern):
        entry.args, entry.kwargs = tree_map(placed, (entry.args, entry.kwargs))
        entry.writes = tuple(map(placed, entry.writes))
    elif isinstance(entry, View) and entry.buffer.base is value:
        entry.buffer.base = target
