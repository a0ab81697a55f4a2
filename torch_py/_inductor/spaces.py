"""Loops of equal length as one: axes are split until they fit, and joined again where possible."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._inductor.indices import Axis, Linear, count_of, linear
from torch_py._inductor.nests import Item, inner_positions, positions


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
