"""Fits the polynomials of aten/vec.

`python tools/fit_polynomials.py [NAME...]` prints their errors, and their coefficients, lowest order first.

Each is a minimax fit (Remez exchange on a dense grid, 60 digits) of g(t) with weight w(t), chosen so that w *
error is the relative error of the function it serves. Coefficients are rounded to the working precision; in
float from the lowest order up, refitting the rest, where that is possible (powers without the constant are no
Chebyshev system on an interval around 0).
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp

mp.mp.dps = 60
GRID = 600


@dataclass(frozen=True)
class Fit:
    """w(t) * |g(t) - polynomial(t)| is made small on [low, high]."""

    g: Callable[[mp.mpf], mp.mpf]
    w: Callable[[mp.mpf], mp.mpf]
    low: float
    high: float
    degree: int
    precision: str  # "float" or "double"
    grid: int = GRID


LN2 = mp.log(2)
HALF_PI = mp.pi / 2
HALF = mp.mpf(0.5)


def _log1p_tail(f: mp.mpf, terms: int) -> mp.mpf:
    """log1p(f) less its first `terms` series terms, divided by f ** (terms + 1)."""
    head = sum((-1) ** (i + 1) * f**i / i for i in range(1, terms + 1))
    return (mp.log1p(f) - head) / f ** (terms + 1)


def _sine(degree: int, precision: str, grid: int) -> Fit:
    """For sin(r), a polynomial of r^2."""
    return Fit(
        lambda s: (mp.sin(mp.sqrt(s)) - mp.sqrt(s)) / mp.sqrt(s) ** 3,
        lambda s: mp.sqrt(s) ** 3 / mp.sin(mp.sqrt(s)),
        1e-9,
        0.6170,
        degree,
        precision,
        grid,
    )


def _cosine(degree: int, precision: str, grid: int) -> Fit:
    """For cos(r), a polynomial of r^2."""
    return Fit(
        lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2,
        lambda s: s**2 / mp.cos(mp.sqrt(s)),
        1e-9,
        0.6170,
        degree,
        precision,
        grid,
    )


FITS: dict[str, Fit] = {
    # exp(r) = 1 + r + r^2 P(r)
    "exp": Fit(lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.exp(r), -0.3466, 0.3466, 4, "float"),
    # expm1(r) = r + r^2 P(r), relative to expm1
    "expm1": Fit(
        lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.expm1(r), -0.3466, 0.3466, 7, "double"
    ),
    # The same for double results
    "expm1_double": Fit(
        lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.expm1(r), -0.34658, 0.34658, 10, "double"
    ),
    # log1p(f) = f - f^2/2 + s (f^2/2 + s^2 P(s^2)) with s = f / (2 + f), for double results
    "log_double": Fit(
        lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) * 2 / z,
        lambda z: z / 2 * mp.sqrt(z) / mp.atanh(mp.sqrt(z)),
        1e-9,
        0.02944,
        6,
        "double",
    ),
    # log1p(f) = f - f^2/2 + f^3 P(f)
    "log": Fit(lambda f: _log1p_tail(f, 2), lambda f: f**3 / mp.log1p(f), -0.29290, 0.41422, 8, "float"),
    "log_wide": Fit(
        lambda f: _log1p_tail(f, 2), lambda f: f**3 / mp.log1p(f), -0.29290, 0.41422, 13, "double"
    ),
    # sin(pi/2 f) = f P(f^2); cos(pi/2 f) = 1 + f^2 P(f^2)
    "sin_quadrant": Fit(
        lambda s: mp.sin(HALF_PI * mp.sqrt(s)) / mp.sqrt(s), lambda s: 1, 1e-9, 0.2501, 5, "double"
    ),
    "cos_quadrant": Fit(
        lambda s: (mp.cos(HALF_PI * mp.sqrt(s)) - 1) / s, lambda s: s, 1e-9, 0.2501, 5, "double"
    ),
    # sin(r) = r + r^3 P(r^2); cos(r) = 1 - r^2/2 + r^4 P(r^2); |r| <= pi/4
    "sin": _sine(3, "float", 200),
    "cos": _cosine(2, "float", 200),
    "sin_double": _sine(5, "double", 300),
    "cos_double": _cosine(5, "double", 300),
    # log1p(e) = e + e^2 P(e - 1/2) for 0 <= e <= 1
    "softplus": Fit(
        lambda t: (mp.log1p(t + HALF) - t - HALF) / (t + HALF) ** 2,
        lambda t: (t + HALF) ** 2 / mp.log1p(t + HALF),
        -0.499999999,
        0.5,
        8,
        "float",
        200,
    ),
    # tanh(x) = x + x^3 P(x^2) for |x| < 0.625
    "tanh": Fit(
        lambda s: (mp.tanh(mp.sqrt(s)) - mp.sqrt(s)) / mp.sqrt(s) ** 3,
        lambda s: mp.sqrt(s) ** 3 / mp.tanh(mp.sqrt(s)),
        1e-9,
        0.391,
        4,
        "float",
    ),
    "tanh_double": Fit(
        lambda s: (mp.tanh(mp.sqrt(s)) - mp.sqrt(s)) / mp.sqrt(s) ** 3,
        lambda s: mp.sqrt(s) ** 3 / mp.tanh(mp.sqrt(s)),
        1e-9,
        0.391,
        11,
        "double",
    ),
    # erf(x) = x + x P(x^2) for |x| < 1; erf(a) = 1 - exp(P(a)) for 1 <= a <= 4
    "erf_small": Fit(
        lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1,
        lambda s: mp.sqrt(s) / mp.erf(mp.sqrt(s)),
        1e-9,
        0.7745,
        6,
        "float",
    ),
    "erf_large": Fit(lambda a: mp.log(mp.erfc(a)), lambda a: mp.erfc(a) / mp.erf(a), 0.88, 4.0, 7, "float"),
    # The same for double results, below and above 1
    "erf_small_double": Fit(
        lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1,
        lambda s: mp.sqrt(s) / mp.erf(mp.sqrt(s)),
        1e-9,
        1.0001,
        12,
        "double",
    ),
    "erf_large_double": Fit(
        lambda a: mp.log(mp.erfc(a)), lambda a: mp.erfc(a) / mp.erf(a), 1.0, 5.95, 17, "double"
    ),
    # erfc(a) exp(a^2) (1 + 2 a) = P(t), t = (a - 2) / (a + 2), for 0 <= a <= 11
    "erfcx": Fit(
        lambda t: (
            mp.erfc(2 * (1 + t) / (1 - t))
            * mp.exp((2 * (1 + t) / (1 - t)) ** 2)
            * (1 + 4 * (1 + t) / (1 - t))
        ),
        lambda t: 1,
        -1.0,
        9 / 13,
        13,
        "double",
    ),
    # atan(t) = t + t^3 P(t^2) on [0, 1]; asin(t) likewise on [0, 1/2]
    "atan": Fit(
        lambda s: (mp.atan(mp.sqrt(s)) - mp.sqrt(s)) / mp.sqrt(s) ** 3,
        lambda s: mp.sqrt(s) ** 3 / mp.atan(mp.sqrt(s)),
        1e-9,
        1.0,
        10,
        "double",
    ),
    "asin": Fit(
        lambda s: (mp.asin(mp.sqrt(s)) - mp.sqrt(s)) / mp.sqrt(s) ** 3,
        lambda s: mp.sqrt(s) ** 3 / mp.asin(mp.sqrt(s)),
        1e-9,
        0.25,
        6,
        "double",
    ),
}


def remez(
    grid: list[mp.mpf], values: list[mp.mpf], weights: list[mp.mpf], powers: range, rounds: int = 12
) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients of t**p for p in powers with least max |w (g - P)| over the grid, and that maximum."""
    count = len(powers)
    last = len(grid) - 1
    nodes = [round(last * (1 - mp.cos(mp.pi * i / count)) / 2) for i in range(count + 1)]
    coefficients: list[mp.mpf] = []

    for _ in range(rounds):
        rows = [[grid[n] ** p for p in powers] + [(-1) ** i / weights[n]] for i, n in enumerate(nodes)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([values[n] for n in nodes]))
        coefficients = list(solution)[:count]

        errors = [
            w * (v - sum(c * t**p for c, p in zip(coefficients, powers, strict=True)))
            for t, v, w in zip(grid, values, weights, strict=True)
        ]

        extrema = _alternating_extrema(errors, count + 1)
        if extrema == nodes or len(extrema) != count + 1:
            break
        nodes = extrema

    return coefficients, max(abs(e) for e in errors)


def _alternating_extrema(errors: list[mp.mpf], wanted: int) -> list[int]:
    """The largest error of each run of one sign, shortened at the ends to `wanted` runs."""
    runs: list[int] = []
    for i, error in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > wanted:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def _rounded(value: mp.mpf, precision: str) -> mp.mpf:
    number = float(value)
    return mp.mpf(struct.unpack("f", struct.pack("f", number))[0] if precision == "float" else number)


def fit(spec: Fit) -> tuple[list[mp.mpf], mp.mpf]:
    middle, radius = (mp.mpf(spec.low) + spec.high) / 2, (mp.mpf(spec.high) - spec.low) / 2
    # An even number of points: none at t = 0, where some of the g above are 0/0.
    grid = [middle - radius * mp.cos(mp.pi * i / (spec.grid - 1)) for i in range(spec.grid)]
    values, weights = [spec.g(t) for t in grid], [abs(spec.w(t)) for t in grid]
    fixed: list[mp.mpf] = []
    error = mp.mpf(0)
    rest = values
    while len(fixed) <= spec.degree:
        coefficients, error = remez(grid, rest, weights, range(len(fixed), spec.degree + 1))
        step = len(coefficients) if spec.precision == "double" or spec.low < 0 else 1
        for coefficient in coefficients[:step]:
            fixed.append(_rounded(coefficient, spec.precision))
            power = len(fixed) - 1
            rest = [v - fixed[-1] * t**power for v, t in zip(rest, grid, strict=True)]
    error = max(abs(w * r) for w, r in zip(weights, rest, strict=True))
    return fixed, error


def two_over_pi() -> tuple[list[mp.mpf], list[mp.mpf]]:
    """Row e: 2/pi less the multiples of 4 / 2^(e-23) that add only whole turns for floats in [2^e, 2^(e+1)).

    High parts have 29 bits, so that their product with a float is exact in double. They are rounded down: the
    low parts are positive, and -0 times both stays -0.
    """
    high, low = [], []
    with mp.workprec(400):
        for row in range(128):
            scale = mp.mpf(2) ** (row - 23)
            value = 2 / mp.pi * scale
            value = (value - 4 * mp.nint(value / 4) if row > 25 else value) / scale
            mantissa, exponent = mp.frexp(value)
            high.append(mp.ldexp(mp.floor(mp.ldexp(mantissa, 29)), int(exponent) - 29))
            low.append(value - high[-1])
    return high, low


def erf_pieces() -> tuple[list[mp.mpf], list[list[mp.mpf]]]:
    """For each half of a unit in [0, 4], a centre c, and P with erf(a) = a P(a - c) there.

    P(0) = erf(c) / c is the largest term: of many centres near the middle, the one is taken at which it is
    closest to a float.
    """

    def quotient(a: mp.mpf) -> mp.mpf:
        return mp.erf(a) / a if a != 0 else 2 / mp.sqrt(mp.pi)

    def distance(a: mp.mpf) -> mp.mpf:
        return abs(_rounded(quotient(a), "float") / quotient(a) - 1)

    numbers = random.Random(1)
    centres, rows = [], []
    for piece in range(8):
        low, high = mp.mpf(piece) / 2, mp.mpf(piece + 1) / 2
        middle = float(low + high) / 2
        near = [_rounded(mp.mpf(middle + numbers.uniform(-0.004, 0.004)), "float") for _ in range(600)]
        centre = min(near, key=distance)
        first = _rounded(quotient(centre), "float")
        spec = Fit(
            lambda t, c=centre, f=first: (quotient(c + t) - f) / t,
            lambda t, c=centre: t / quotient(c + t),
            float(low - centre),
            float(high - centre),
            6,
            "float",
        )
        centres.append(centre)
        rows.append([first, *fit(spec)[0]])
    return centres, rows


def main(names: list[str]) -> None:
    for name in names or [*FITS, "erf_pieces", "two_over_pi"]:
        if name == "erf_pieces":
            centres, rows = erf_pieces()
            for row in (centres, *zip(*rows, strict=True)):
                print("  " + ", ".join(float(c).hex().replace("0000000p", "p") + "f" for c in row))
            continue
        if name == "two_over_pi":
            for part, row in zip(("high", "low"), two_over_pi(), strict=True):
                print(f"{name} {part}:\n  " + ", ".join(float(c).hex().replace("0000000p", "p") for c in row))
            continue
        coefficients, error = fit(FITS[name])
        suffix = "f" if FITS[name].precision == "float" else ""
        print(f"{name}: largest weighted error 2^{float(mp.log(error, 2)):.1f}")
        print("  " + ", ".join(float(c).hex().replace("0000000p", "p") + suffix for c in coefficients))


if __name__ == "__main__":
    main(sys.argv[1:])
