"""Places the boxes of a directed acyclic graph in layers, with few
crossings between them (Sugiyama et al. 1981)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

# Each sweep orders every layer by its neighbours, down or up; more sweeps change little.
_SWEEPS = 6
# Longer edges are straight: routing them through every layer would cost the square of their length.
_LONGEST_ROUTED = 30


class Placed(NamedTuple):
    """The centres of boxes in pixels, and the size of the picture. `routes` are the corners of each edge."""

    x: list[float]
    y: list[float]
    routes: list[list[tuple[float, float]]]
    width: float
    height: float


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest path that ends at each box. Raises ValueError if the graph has a cycle."""
    above: list[int] = [0] * count
    below: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        below[source].append(target)
        above[target] += 1

    layer = [0] * count
    ready = deque(box for box in range(count) if above[box] == 0)
    seen = 0
    while ready:
        box = ready.popleft()
        seen += 1
        for target in below[box]:
            layer[target] = max(layer[target], layer[box] + 1)
            above[target] -= 1
            if above[target] == 0:
                ready.append(target)

    if seen != count:
        raise ValueError("expected a graph without cycles")

    # Sources move down to the layer above their first target, so that parameters are next to their operators.
    for box in sorted(range(count), key=lambda each: -layer[each]):
        if below[box] and not any(target == box for _, target in edges):
            layer[box] = min(layer[target] for target in below[box]) - 1

    return layer


class _Layout:
    """The layers of the graph, with boxes and the bends of long edges as points."""

    def __init__(self, widths: Sequence[float], edges: Sequence[tuple[int, int]], gap: float) -> None:
        self.gap = gap
        self.widths = list(widths)
        self.layer = layers_of(len(widths), edges)
        self.chains = [self._chain(source, target) for source, target in edges]

        self.rows: list[list[int]] = [[] for _ in range(max(self.layer, default=0) + 1)]
        for point, row in enumerate(self.layer):
            self.rows[row].append(point)

        self.above: list[list[int]] = [[] for _ in self.layer]
        self.below: list[list[int]] = [[] for _ in self.layer]
        for chain in self.chains:
            for one, next_one in zip(chain, chain[1:]):
                self.below[one].append(next_one)
                self.above[next_one].append(one)

    def _chain(self, source: int, target: int) -> list[int]:
        """The points of an edge, one in each layer that it crosses."""
        points = [source]
        if self.layer[target] - self.layer[source] > _LONGEST_ROUTED:
            return [source, target]
        for row in range(self.layer[source] + 1, self.layer[target]):
            points.append(len(self.layer))
            self.layer.append(row)
            self.widths.append(0.0)
        return [*points, target]

    def order(self) -> None:
        """Orders each layer so that few edges cross."""
        place = {point: float(position) for row in self.rows for position, point in enumerate(row)}
        for sweep in range(_SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                wanted = {
                    point: _mean([place[other] for other in neighbours[point]], place[point]) for point in row
                }
                row.sort(key=wanted.__getitem__)
                place.update((point, float(position)) for position, point in enumerate(row))

    def columns(self) -> list[float]:
        """The x of each point: near the mean of its neighbours, and
        without touching the next point in its row."""
        x = [0.0] * len(self.layer)
        for row in self.rows:
            self._spread(row, x, dict.fromkeys(row, 0.0))

        for sweep in range(_SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                wanted = {point: _mean([x[other] for other in neighbours[point]], x[point]) for point in row}
                self._spread(row, x, wanted)

        left = min((x[point] - self.widths[point] / 2 for point in range(len(x))), default=0.0)
        return [value - left for value in x]

    def _spread(self, row: list[int], x: list[float], wanted: dict[int, float]) -> None:
        """Puts a row at the wanted positions, and moves boxes apart that would
        touch, half to the left and half to the right."""
        forward = list(row)
        backward = list(reversed(row))
        from_left: dict[int, float] = {}
        from_right: dict[int, float] = {}

        for before, point in zip([None, *forward], forward):
            free = wanted[point] if before is None else from_left[before] + self._distance(before, point)
            from_left[point] = max(wanted[point], free)

        for before, point in zip([None, *backward], backward):
            free = wanted[point] if before is None else from_right[before] - self._distance(before, point)
            from_right[point] = min(wanted[point], free)

        for point in row:
            x[point] = (from_left[point] + from_right[point]) / 2

    def _distance(self, one: int, other: int) -> float:
        return (self.widths[one] + self.widths[other]) / 2 + self.gap


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def place(
    widths: Sequence[float],
    height: float,
    edges: Sequence[tuple[int, int]],
    gap: float = 24.0,
    rise: float = 46.0,
) -> Placed:
    """The positions of boxes with the given widths and one height, `rise` apart
    vertically and at least `gap` apart horizontally."""
    layout = _Layout(widths, edges, gap)
    layout.order()
    x = layout.columns()

    y = [row * (height + rise) + height / 2 for row in layout.layer]
    routes = [[(x[point], y[point]) for point in chain] for chain in layout.chains]
    width = max((x[point] + layout.widths[point] / 2 for point in range(len(x))), default=0.0)
    total = len(layout.rows) * (height + rise) - rise
    return Placed(x[: len(widths)], y[: len(widths)], routes, width, total)
