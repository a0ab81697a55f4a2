"""Decides how the items of a nest are computed: in which pass, where their values are, and along which axis
vectors lie. Neighbouring axes become one where all positions allow it. Then lets loops write the new values
of inputs to their memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.indices import Axis, Linear, Rounded, count_of, linear, unflattened
from torch_py._inductor.ir import Buffer, Load, cost, loads, named, with_loads
from torch_py._inductor.loops import ELEMENT, REDUCTION, ROW, Entry, Extern, Item, Nest, View, positions
from torch_py._ops import ops
from torch_py.utils._pytree import tree_map

_CHEAP_TO_REPEAT = 4  # additions
_LARGEST_SCRATCH = 65536  # bytes of a row that is kept


def arrange(nest: Nest, needed: set[Buffer]) -> None:
    """Completes a nest. `needed` are the memories that others read."""
    _set_passes(nest)
    _place_items(nest, needed)
    _order_axes(nest)
    for part in ("outer", "inner"):
        axes, replaced = _joined(getattr(nest, part), nest.items)
        nest.replace(replaced)
        setattr(nest, part, axes)
    if is_columns(nest):
        for item in nest.items:
            if item.place == "scratch":
                item.place = "memory"


def _set_passes(nest: Nest) -> None:
    """One pass after that of each reduction that an item reads, and none before what it reads."""
    for item in nest.items:
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
                value = named(item.buffer.name, item.value)
                reader.value = with_loads(reader.value, item.buffer, lambda load: value)  # noqa: B023
        if not is_needed:
            if not any(_reads(o, item.buffer) for o in nest.items):
                nest.items.remove(item)
            elif count_of(nest.inner) * item.buffer.dtype.itemsize <= _LARGEST_SCRATCH:
                item.place = "scratch"


def _reads(item: Item, buffer: Buffer) -> bool:
    return any(load.buffer is buffer for load in loads(item.value))


def _order_axes(nest: Nest) -> None:
    """Puts the outer axes in the order of memory, that of the first store."""
    first = nest.items[0]
    steps = {axis: abs(first.position.factor(axis)) for axis in nest.outer}
    if not nest.has_rows and all(steps.values()):
        nest.outer.sort(key=steps.__getitem__, reverse=True)


def is_columns(nest: Nest) -> bool:
    """Whether neighbours in memory are reduced to neighbours, rather than to one number."""
    if not nest.inner or not nest.outer:
        return False
    reduced = [load for item in nest.items if item.kind == REDUCTION for load in loads(item.value)]
    along_rows = sum(load.position.factor(nest.inner[-1]) == 1 for load in reduced)
    along_columns = sum(load.position.factor(nest.outer[-1]) == 1 for load in reduced)
    return along_columns > along_rows


def _joined(axes: list[Axis], items: Sequence[Item]) -> tuple[list[Axis], dict[Axis, Linear]]:
    """Axes with neighbours joined where all positions allow it, and the old ones in terms of these."""
    every = set(positions(items))
    every |= {atom.value for position in every for atom in position.atoms() if isinstance(atom, Rounded)}
    groups: list[list[Axis]] = []
    for axis in axes:
        if groups and all(p.factor(groups[-1][-1]) == p.factor(axis) * axis.size for p in every):
            groups[-1].append(axis)
        else:
            groups.append([axis])

    result: list[Axis] = []
    replaced: dict[Axis, Linear] = {}
    for group in groups:
        whole = group[0] if len(group) == 1 else Axis(group[0].name, count_of(group))
        result.append(whole)
        if len(group) > 1:
            replaced.update(zip(group, unflattened(linear(whole), [axis.size for axis in group])))
    return result, replaced


# New values of inputs
# ------------------------------------------------------------
#
# A graph that changes inputs ends with copies of values that nests have made. Where the nest reads the old
# numbers of the input only at the position that it writes, and nothing reads them later, the value has the
# memory of the input from the start, and the copy disappears:
#
#     for i: new[i] = x[i] + 1; x.copy_(new)  ->  for i: x[i] = x[i] + 1


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

    following = sorted(nest.items, key=lambda item: item.pass_)
    following = following[following.index(maker) + 1 :]
    is_late = False
    for item in nest.items:
        for load in loads(item.value):
            if load.buffer.memory is target:
                if load.buffer is not target or load.position != maker.position:
                    return False
                is_late = is_late or item in following
    return not is_late or _is_postponed(nest, maker, following)


def _is_postponed(nest: Nest, item: Item, following: Sequence[Item]) -> bool:
    """Makes an item the last of its pass, if that changes nothing of what it reads, and what reads it."""
    read = {load.buffer.memory for load in loads(item.value)}
    if any(o.pass_ != item.pass_ or _reads(o, item.buffer) or o.buffer.memory in read for o in following):
        return False
    nest.items.remove(item)
    nest.items.append(item)
    return True


def _move(entry: Entry, value: Buffer, target: Buffer) -> None:
    """Gives a value the memory of an input, in one entry."""

    def placed(found: Any) -> Any:
        return target if found is value else found

    if isinstance(entry, Nest):
        for item in entry.items:
            item.buffer = placed(item.buffer)
            item.value = with_loads(item.value, value, lambda load: Load(target, load.index))
    elif isinstance(entry, Extern):
        entry.args, entry.kwargs = tree_map(placed, (entry.args, entry.kwargs))
        entry.writes = tuple(map(placed, entry.writes))
    elif isinstance(entry, View) and entry.buffer.base is value:
        entry.buffer.base = target
