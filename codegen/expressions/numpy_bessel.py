"""Bessel functions, incomplete gamma functions and orthogonal polynomials in NumPy.

They are computed by other methods than in C++.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

EULER = 0.5772156649015329


def _first_kind(x: float) -> Any:
    """J_0(x), J_1(x), ...: Fourier coefficients of exp(i x sin t)."""
    count = 1 << math.ceil(math.log2(96 + 4 * abs(x)))
    angles = np.arange(count) * (2 * np.pi / count)
    return (np.fft.fft(np.exp(1j * x * np.sin(angles))) / count).real


def _j(order: int, x: float) -> float:
    return float(_first_kind(x)[order]) if math.isfinite(x) else x if x != x else 0.0


def _y(order: int, x: float) -> float:
    """Neumann's series in J_2k."""
    if not 0 < x < math.inf:
        return -math.inf if x == 0 else 0.0 if x > 0 else math.nan
    j = _first_kind(x)
    k = np.arange(1, len(j) // 4)
    signs = (-1.0) ** k / k
    logarithm = math.log(x / 2) + EULER
    if order == 0:
        return float(2 / math.pi * logarithm * j[0] - 4 / math.pi * np.sum(signs * j[2 * k]))
    slopes = (j[2 * k - 1] - j[2 * k + 1]) / 2
    return float(2 / math.pi * (logarithm * j[1] - j[0] / x) + 4 / math.pi * np.sum(signs * slopes))


def _scaled_k(order: float, x: float) -> float:
    """The integral of exp(-x (cosh t - 1)) cosh(order t)."""
    if not 0 < x < math.inf:
        return math.inf if x == 0 else 0.0 if x > 0 else math.nan
    t = np.arange(0, 720, 1 / 64) / max(1.0, math.sqrt(x))
    t = t[t < 700]
    with np.errstate(all="ignore"):
        values = np.exp(-x * 2 * np.sinh(t / 2) ** 2 + np.log(np.cosh(order * t)))
    return float((np.sum(values) - values[0] / 2) * (t[1] - t[0]))


def _airy(x: float) -> float:
    """The Maclaurin series with enough digits for its cancellation; K_1/3 for large x."""
    if not -math.inf < x < 1000:
        return x if x != x else 0.0

    zeta = 2 / 3 * abs(x) * math.sqrt(abs(x))
    if x < -1000:  # the first terms of the asymptotic series
        phase = zeta - math.pi / 4
        return (math.cos(phase) + 5 / (72 * zeta) * math.sin(phase)) / math.sqrt(math.pi * math.sqrt(abs(x)))

    if x > 2:
        return math.sqrt(x / 3) / math.pi * math.exp(-zeta) * _scaled_k(1 / 3, zeta)

    with localcontext() as context:
        context.prec = 30 + int(zeta / 2)
        cube = Decimal(x) ** 3
        even = Decimal("0.355028053887817239260063186004183")
        odd = Decimal("-0.25881940379280679840518356018920396") * Decimal(x)

        total = even + odd
        k = 0
        while k < 6 * zeta + 60:
            k += 3
            even *= cube / (k * (k - 1))
            odd *= cube / (k * (k + 1))
            total += even + odd

        return float(total)


def _gammainc(a: float, x: float, upper: bool) -> float:
    """The integral of t^(a - 1) exp(-t) / Gamma(a), t = exp(s), by the trapezoidal rule over s."""
    if not (a >= 0 and x >= 0) or (a == 0 == x) or (math.isinf(a) and math.isinf(x)):
        return math.nan
    if a == 0 or math.isinf(x) or x == 0 or math.isinf(a):
        is_everything_below = a == 0 or math.isinf(x)
        return float(is_everything_below != upper)
    edge = math.log(x)
    reach = 40 / min(a, 1) if not upper else max(8.0, math.log(800 / x + a))
    # Twice exponentially close to the edge, so that the rule converges there too.
    u = np.linspace(-4.5, 4.5, 4001)
    distance = reach / (1 + np.exp(-np.pi * np.sinh(u)))
    slope = distance * (1 - distance / reach) * np.pi * np.cosh(u)
    s = edge + distance if upper else edge - distance
    with np.errstate(all="ignore"):
        values = np.exp(a * s - np.exp(s) - math.lgamma(a)) * slope
    return float(np.sum(values) * (u[1] - u[0]))


def _of_one(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: np.vectorize(lambda a: function(float(a)), otypes=["d"])(x)


def _of_two(function: Callable[[float, float], float]) -> Callable[[Any, Any], Any]:
    return lambda x, y: np.vectorize(lambda a, b: function(float(a), float(b)), otypes=["d"])(x, y)


bessel_j0 = _of_one(lambda x: _j(0, x))
bessel_j1 = _of_one(lambda x: _j(1, x))
bessel_y0 = _of_one(lambda x: _y(0, x))
bessel_y1 = _of_one(lambda x: _y(1, x))
scaled_modified_bessel_k0 = _of_one(lambda x: _scaled_k(0, x))
scaled_modified_bessel_k1 = _of_one(lambda x: _scaled_k(1, x))
modified_bessel_k0 = _of_one(lambda x: math.exp(-max(x, 0)) * _scaled_k(0, x))
modified_bessel_k1 = _of_one(lambda x: math.exp(-max(x, 0)) * _scaled_k(1, x))
airy_ai = _of_one(_airy)
gammainc = _of_two(lambda a, x: _gammainc(a, x, False))
gammaincc = _of_two(lambda a, x: _gammainc(a, x, True))


def _series(value: Callable[[float, Any], Any]) -> Callable[[Any, Any], Any]:
    """NumPy's sum of a series of polynomials, for the one of degree n."""
    return _of_two(lambda x, n: 0.0 if n < 0 else float(value(x, [0] * int(n) + [1])))


def _chebyshev(ratio: Callable[[complex, int], complex]) -> Callable[[float, float], float]:
    """A Chebyshev polynomial of degree n as ``ratio(angle, n)``, where x = cos(angle).

    The angle is complex if abs(x) > 1. ``ratio`` has removable singularities at whole multiples of pi.
    """

    def apply(x: float, n: float) -> float:
        if n < 0 or x != x:
            return x if x != x else 0.0
        angle = complex(np.emath.arccos(x + 1e-13 if abs(x) == 1 else x))
        return ratio(angle, int(n)).real

    return apply


_u = _chebyshev(lambda t, n: complex(np.sin((n + 1) * t) / np.sin(t)))
_v = _chebyshev(lambda t, n: complex(np.cos((n + 0.5) * t) / np.cos(t / 2)))
_w = _chebyshev(lambda t, n: complex(np.sin((n + 0.5) * t) / np.sin(t / 2)))

hermite_polynomial_h = _series(np.polynomial.hermite.hermval)
hermite_polynomial_he = _series(np.polynomial.hermite_e.hermeval)
laguerre_polynomial_l = _series(np.polynomial.laguerre.lagval)
legendre_polynomial_p = _series(np.polynomial.legendre.legval)
chebyshev_polynomial_t = _series(np.polynomial.chebyshev.chebval)
chebyshev_polynomial_u = _of_two(_u)
chebyshev_polynomial_v = _of_two(_v)
chebyshev_polynomial_w = _of_two(_w)


def shifted_chebyshev_polynomial_t(x: Any, n: Any) -> Any:
    return chebyshev_polynomial_t(2 * np.asarray(x) - 1, n)


def shifted_chebyshev_polynomial_u(x: Any, n: Any) -> Any:
    return chebyshev_polynomial_u(2 * np.asarray(x) - 1, n)


def shifted_chebyshev_polynomial_v(x: Any, n: Any) -> Any:
    return chebyshev_polynomial_v(2 * np.asarray(x) - 1, n)


def shifted_chebyshev_polynomial_w(x: Any, n: Any) -> Any:
    return chebyshev_polynomial_w(2 * np.asarray(x) - 1, n)
