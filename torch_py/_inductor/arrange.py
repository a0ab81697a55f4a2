"""Decides how the items of a nest are computed: in which pass, where their values are, and along which axis
vectors lie. Neighbouring axes become one where all positions allow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._inductor.indices import Axis, Linear, Rounded, count_of, linear, unflattened
from torch_py._inductor.ir import Buffer, cost, loads, named, with_loads
from torch_py._inductor.loops import REDUCTION, ROW, Item, Nest, positions

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
                value = named(item.buffer.name, item.value, item.line)
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
