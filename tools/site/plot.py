"""Curves as small SVG pictures. Colours come from the style sheet, so that they suit light and dark pages."""

from __future__ import annotations

import math
from html import escape

from tools.site.operators.curves import Curve, Curves, pieces

_WIDTH = 420
_HEIGHT = 230
# Margins, with room for the numbers.
_LEFT = 34
_RIGHT = 8
_TOP = 8
_BOTTOM = 20


def svg(curves: Curves) -> str:
    """The picture with its legend."""
    frame = _Frame(curves)
    drawn = "".join(frame.path(curve, number) for number, curve in enumerate(curves.curves))
    picture = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(_caption(curves))}">'
        f"{''.join(frame.grid())}{frame.window(drawn)}</svg>"
    )
    legend = "".join(
        f'<span class="{_class(curve, number)}">{escape(curve.label)}</span>'
        for number, curve in enumerate(curves.curves)
    )
    return f'<figure class="plot" data-search-exclude>{picture}<figcaption>{legend}</figcaption></figure>'


def _caption(curves: Curves) -> str:
    return "Graphs of " + ", ".join(curve.label for curve in curves.curves)


def _class(curve: Curve, number: int) -> str:
    return curve.kind if curve.kind == "derivative" else f"{curve.kind}-{number}"


class _Frame:
    """Maps numbers to the picture."""

    def __init__(self, curves: Curves) -> None:
        self.curves = curves
        self.x_low = curves.positions[0]
        self.x_high = curves.positions[-1]
        self.y_low, self.y_high = _shown(curves)

    def x(self, value: float) -> float:
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.y_low) / (self.y_high - self.y_low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def grid(self) -> list[str]:
        lines = []

        for tick in _ticks(self.x_low, self.x_high, 6):
            place = f"{self.x(tick):.1f}"
            kind = "axis" if tick == 0 else "grid"
            lines.append(f'<path class="{kind}" d="M{place} {_TOP}V{_HEIGHT - _BOTTOM}"/>')
            lines.append(f'<text x="{place}" y="{_HEIGHT - 6}" text-anchor="middle">{_number(tick)}</text>')

        for tick in _ticks(self.y_low, self.y_high, 4):
            place = f"{self.y(tick):.1f}"
            kind = "axis" if tick == 0 else "grid"
            lines.append(f'<path class="{kind}" d="M{_LEFT} {place}H{_WIDTH - _RIGHT}"/>')
            lines.append(
                f'<text x="{_LEFT - 5}" y="{place}" dy="3.5" text-anchor="end">{_number(tick)}</text>'
            )

        return lines

    def window(self, drawn: str) -> str:
        """Cuts off what is outside of the grid."""
        width = _WIDTH - _LEFT - _RIGHT
        height = _HEIGHT - _TOP - _BOTTOM
        place = f'x="{_LEFT}" y="{_TOP}" width="{width}" height="{height}"'
        return f'<svg {place} viewBox="{_LEFT} {_TOP} {width} {height}">{drawn}</svg>'

    def path(self, curve: Curve, number: int) -> str:
        """Points beyond the picture are moved to just outside of it, where they are cut off."""
        height = self.y_high - self.y_low
        drawn = []
        for piece in pieces(self.curves.positions, curve, height / 3):
            points = [(x, min(max(y, self.y_low - height), self.y_high + height)) for x, y in piece]
            drawn.append("M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in _thinned(points)))
        return f'<path class="{_class(curve, number)}" d="{"".join(drawn)}"/>'


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without the points inside of straight runs."""
    kept = points[:1]
    for before, point, after in zip(points, points[1:], points[2:]):
        expected = before[1] + (after[1] - before[1]) * (point[0] - before[0]) / (after[0] - before[0])
        if abs(point[1] - expected) > 1e-9:
            kept.append(point)
    return kept + points[1:][-1:]


def _shown(curves: Curves) -> tuple[float, float]:
    """The range of values to show: poles do not flatten everything else."""
    values = sorted(y for curve in curves.curves for y in curve.values if y == y)
    if not values:
        return -1.0, 1.0

    low, high = values[len(values) // 25], values[-1 - len(values) // 25]
    margin = 0.25 * (high - low)
    low, high = max(values[0], low - margin), min(values[-1], high + margin)
    if high - low < 1e-6:
        low, high = low - 1, high + 1
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers between the bounds."""
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    first = math.ceil(low / step)
    return [round(step * index, 10) for index in range(first, math.floor(high / step) + 1)]


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")
