"""Lets loops write the new values of inputs to their memory.

A graph that changes inputs ends with copies of values that nests have made. Where the nest reads the old
numbers of the input only at the position that it writes, and nothing reads them later, the value has the
memory of the input from the start, and the copy disappears:

    for i: new[i] = x[i] + 1; x.copy_(new)  ->  for i: x[i] = x[i] + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.ir import Buffer, Load, loads, with_loads
from torch_py._inductor.loops import ELEMENT, Entry, Extern, Item, Nest, View
from torch_py._ops import ops
from torch_py.utils._pytree import tree_map


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

    if isinstance(entry, Nest):
        for item in entry.items:
            item.buffer = placed(item.buffer)
            item.value = with_loads(item.value, value, lambda load: Load(target, load.index))
    elif isinstance(entry, Extern):
        entry.args, entry.kwargs = tree_map(placed, (entry.args, entry.kwargs))
        entry.writes = tuple(map(placed, entry.writes))
    elif isinstance(entry, View) and entry.buffer.base is value:
        entry.buffer.base = target
