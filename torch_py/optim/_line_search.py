"""Line search for the strong Wolfe conditions (Nocedal & Wright, algorithms 3.5 and 3.6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py._tensor import Tensor

# The constants of minFunc.
_DECREASE = 1e-4  # sufficient decrease, relative to the slope
_CURVATURE = 0.9  # largest remaining slope, relative to the first
_LIMIT = 25  # evaluations
_SMALLEST_MOVE = 1e-9


class Point(NamedTuple):
    """A point on the line: its distance in multiples of the direction, and there the loss, the gradient and
    the product of gradient and direction."""

    distance: float
    loss: float
    gradient: Tensor
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point], start: Point, first: float, largest: float
) -> tuple[Point, int]:
    """Finds a point that fulfils the strong Wolfe conditions, or the best one within the limit, and returns
    it with the number of evaluations.

    `evaluate(distance)` returns the point at a distance; `first` is the first distance to try; `largest` is
    the largest element of the direction.
    """
    bracket, evaluations, is_done = _bracket(evaluate, start, first)
    if not is_done:
        evaluations = _zoom(evaluate, start, bracket, evaluations, largest)

    best = min(bracket, key=lambda point: math.inf if math.isnan(point.loss) else point.loss)
    return best, evaluations


def _decreases_too_little(point: Point, start: Point) -> bool:
    return point.loss > start.loss + _DECREASE * point.distance * start.slope


def _is_flat(point: Point, start: Point) -> bool:
    return abs(point.slope) <= -_CURVATURE * start.slope


def _bracket(evaluate: Callable[[float], Point], start: Point, first: float) -> tuple[list[Point], int, bool]:
    """Tries longer and longer steps until a point is good or lies beyond the minimum."""
    before = start
    point = evaluate(first)

    for count in range(_LIMIT):
        if _decreases_too_little(point, start) or (count > 1 and point.loss >= before.loss):
            return [before, point], count + 1, False
        if _is_flat(point, start):
            return [point], count + 1, True
        if point.slope >= 0:
            return [before, point], count + 1, False
        bounds = (point.distance + 0.01 * (point.distance - before.distance), point.distance * 10)
        before, point = point, evaluate(cubic_minimum(before, point, bounds))

    return [start, point], _LIMIT + 1, True


def _zoom(
    evaluate: Callable[[float], Point], start: Point, bracket: list[Point], evaluations: int, largest: float
) -> int:
    """Narrows `bracket` down to a good point."""
    stalled = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    while evaluations <= _LIMIT:
        ends = sorted(point.distance for point in bracket)
        if (ends[1] - ends[0]) * largest < _SMALLEST_MOVE:
            break

        interpolated = cubic_minimum(bracket[0], bracket[1], (ends[0], ends[1]))
        distance, stalled = _kept_inside(interpolated, ends, stalled)
        point = evaluate(distance)
        evaluations += 1
        if _decreases_too_little(point, start) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue

        is_done = _is_flat(point, start)
        if not is_done and point.slope * (bracket[high].distance - bracket[low].distance) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if is_done:
            break

    bracket[:] = [bracket[low]]
    return evaluations


def _kept_inside(distance: float, ends: list[float], stalled: bool) -> tuple[float, bool]:
    """Moves `distance` a tenth of the interval away from its ends, if it comes that close for the second time
    in a row. Also returns whether it came close this time."""
    margin = 0.1 * (ends[1] - ends[0])
    if min(ends[1] - distance, distance - ends[0]) >= margin:
        return distance, False
    if not stalled and ends[0] < distance < ends[1]:
        return distance, True

    is_near_last = abs(distance - ends[1]) < abs(distance - ends[0])
    return (ends[1] - margin if is_near_last else ends[0] + margin), False


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float]) -> float:
    """The minimum within `bounds` of the cubic with these values and slopes (Nocedal & Wright, eq. 3.59)."""
    left, right = (a, b) if a.distance <= b.distance else (b, a)
    width = right.distance - left.distance
    bend = _quotient(3 * (left.loss - right.loss), width) + left.slope + right.slope
    square = bend * bend - left.slope * right.slope
    if not square >= 0:
        return (bounds[0] + bounds[1]) / 2

    root = math.sqrt(square)
    share = _quotient(right.slope + root - bend, right.slope - left.slope + 2 * root)
    position = right.distance - width * share
    return min(max(position, bounds[0]), bounds[1])


def _quotient(numerator: float, denominator: float) -> Any:
    """numerator / denominator, or what IEEE arithmetic gives for a division by zero."""
    if denominator != 0:
        return numerator / denominator
    return math.nan if numerator == 0 else math.copysign(math.inf, numerator)
