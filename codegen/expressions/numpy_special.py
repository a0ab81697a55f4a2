"""Functions that NumPy lacks, for references printed by ``print_python``. Imported by tests, never by the generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    # tanh neither overflows nor warns for large |x|; exact to a rounding.
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(x)))


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
