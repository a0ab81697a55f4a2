"""Functions that NumPy lacks, for references printed by ``print_python``.

Imported by tests, never by the generator.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from codegen.expressions.numpy_bessel import *  # noqa: F403


def sigmoid(x: Any) -> Any:
    # tanh neither overflows nor warns for large |x|; exact to a rounding.
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(x)))


def logaddexp(x: Any, y: Any) -> Any:
    x, y = np.asarray(x), np.asarray(y)
    if not (np.iscomplexobj(x) or np.iscomplexobj(y)):
        return np.logaddexp(x, y)
    larger = np.where(x.real >= y.real, x, y)
    return larger + np.log(np.exp(x - larger) + np.exp(y - larger))


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        array = np.asarray(x)
        kind = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
        flat = [function(float(value)) for value in array.ravel()]
        return np.array(flat, dtype=kind).reshape(array.shape)

    return apply


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    """Recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if not math.isfinite(x):
        return math.nan if x < 0 else x

    if x < 0:
        if x == math.floor(x):
            return math.nan
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)

    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1

    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))
    return shift + math.log(x) - 0.5 / x - series


erf = _elementwise(math.erf)
erfc = _elementwise(math.erfc)
lgamma = _elementwise(_lgamma)
digamma = _elementwise(_digamma)


def _zeta(x: float, q: float) -> float:
    """Hurwitz's zeta function.

    The sum of 40 terms, plus the integral of the rest with the first corrections of the Euler-Maclaurin
    formula.
    """

    if x == 1:
        return math.inf
    if not x > 1 or math.isnan(q):
        return math.nan
    if q <= 0 and q == math.floor(q):
        return math.inf
    if q <= 0 and x != math.floor(x):
        return math.nan
    if math.isinf(q) or math.isinf(x):
        return 0.0 if q > 1 else 1.0 if q == 1 else math.inf

    count = 40 + max(0, math.ceil(-q))
    try:
        head = math.fsum((q + k) ** -x for k in range(count))
        a = q + count
        tail = a ** (1 - x) / (x - 1) + a**-x / 2 + x * a ** (-x - 1) / 12
        third = x * (x + 1) * (x + 2) * a ** (-x - 3)
        fifth = third * (x + 3) * (x + 4) / (a * a)
        return float(head + tail - third / 720 + fifth / 30240)
    except OverflowError:
        return math.inf


def _polygamma(n: float, x: float) -> float:
    if n == 0:
        return _digamma(x)
    if n == 1 and x < 0:
        if x == math.floor(x) or math.isinf(x):
            return math.inf if math.isfinite(x) else math.nan
        return (math.pi / math.sin(math.pi * x)) ** 2 - _zeta(2, 1 - x)
    return (1 if int(n) % 2 else -1) * math.gamma(n + 1) * _zeta(n + 1, x)


def _erfcx(x: float) -> float:
    if x > 25:  # the continued fraction, from far inside
        fraction = x
        for k in range(40, 0, -1):
            fraction = x + k / 2 / fraction if math.isfinite(x) else x
        return 1 / (fraction * math.sqrt(math.pi))
    return math.inf if x < -26.7 else math.erfc(x) * math.exp(x * x) if x == x else x


def _ndtri(p: float) -> float:
    if 0 < p < 1:
        return statistics.NormalDist().inv_cdf(p)
    return -math.inf if p == 0 else math.inf if p == 1 else math.nan


def _erfinv(x: float) -> float:
    if not abs(x) < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    y = math.copysign(_ndtri((1 + abs(x)) / 2) / math.sqrt(2), x)
    for _ in range(2):  # small x loses digits in 1 + x
        y -= (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return y


def _modified_bessel(order: int, x: float) -> float:
    """exp(-abs(x)) times the modified Bessel function of the first kind.

    Computed as the mean of exp(x cos t) cos(order t) over the circle.
    """
    if not math.isfinite(x):
        return x if x != x else 0.0
    angles = np.linspace(0, 2 * np.pi, 64 + int(40 * math.sqrt(abs(x))), endpoint=False)
    value = float(np.mean(np.exp(abs(x) * (np.cos(angles) - 1)) * np.cos(order * angles)))
    return -value if order == 1 and x < 0 else value


def _unscaled(order: int, x: float) -> float:
    if math.isinf(x):
        return abs(x) if order == 0 else x
    return _modified_bessel(order, x) * float(np.exp(abs(x)))


def _of_two(function: Callable[[float, float], float]) -> Callable[[Any, Any], Any]:
    def apply(x: Any, y: Any) -> Any:
        return np.vectorize(lambda a, b: function(float(a), float(b)), otypes=["d"])(x, y)

    return apply


erfcx = _elementwise(_erfcx)
erfinv = _elementwise(_erfinv)
ndtri = _elementwise(_ndtri)
zeta = _of_two(_zeta)
polygamma = _of_two(_polygamma)
i0 = _elementwise(lambda x: _unscaled(0, x))
i0e = _elementwise(lambda x: _modified_bessel(0, x))
i1 = _elementwise(lambda x: _unscaled(1, x))
i1e = _elementwise(lambda x: _modified_bessel(1, x))
