"""Special functions of aten/vec against mpmath: double to a few units in the last place, float to one."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

np = pytest.importorskip("numpy")
mp = pytest.importorskip("mpmath")

Function = Callable[..., Any]

BOTH_SIGNS = [*(s * x for s in (1, -1) for x in (1e-8, 0.03, 0.5, 1.0, 2.7, 5.1, 7.9, 8.0, 8.1, 12.3, 25.0))]
POSITIVE = [1e-8, 1e-3, 0.2, 0.9, 1.7, 1.99, 2.01, 3.3, 4.9, 6.6, 7.9, 8.2, 11.0, 25.5, 90.0, 400.0]

UNARY: dict[str, tuple[Function, list[float]]] = {
    "erfcx": (lambda x: mp.erfc(x) * mp.exp(x * x), [*BOTH_SIGNS, 40.0, 1e4]),
    "erfinv": (mp.erfinv, [1e-9, -0.01, 0.3, 0.499, -0.5, 0.501, 0.9, -0.99, 0.9999, 1 - 1e-9, 1 - 1e-15]),
    "ndtri": (
        lambda p: -mp.sqrt(2) * mp.erfinv(1 - 2 * p),
        [1e-30, 1e-9, 0.01, 0.099, 0.101, 0.3, 0.7, 0.899, 0.901, 0.9999],
    ),
    "i0": (lambda x: mp.besseli(0, x), BOTH_SIGNS),
    "i1": (lambda x: mp.besseli(1, x), BOTH_SIGNS),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [*BOTH_SIGNS, 700.0]),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [*BOTH_SIGNS, 700.0]),
    "bessel_j0": (lambda x: mp.besselj(0, x), [*BOTH_SIGNS, 2.404825557695773, 100.0]),
    "bessel_j1": (lambda x: mp.besselj(1, x), [*BOTH_SIGNS, 3.8317059702075125, 100.0]),
    "bessel_y0": (lambda x: mp.bessely(0, x), POSITIVE),
    "bessel_y1": (lambda x: mp.bessely(1, x), POSITIVE),
    "modified_bessel_k0": (lambda x: mp.besselk(0, x), POSITIVE),
    "modified_bessel_k1": (lambda x: mp.besselk(1, x), POSITIVE),
    "scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), POSITIVE),
    "airy_ai": (
        mp.airyai,
        [
            -200.0,
            -20.3,
            -12.0,
            -9.6,
            -9.4,
            -8.7,
            -6.3,
            -5.1,
            -3.3,
            -1.4,
            -0.2,
            0.0,
            0.7,
            1.49,
            1.51,
            2.5,
            5.0,
            8.1,
        ],
    ),
    "scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), POSITIVE),
}

SHAPES = (0.01, 0.7, 3.0, 25.0, 400.0)
BINARY: dict[str, tuple[Function, list[tuple[float, float]]]] = {
    "zeta": (mp.zeta, [(s, q) for s in (1.1, 2.0, 3.5, 12.0) for q in (0.01, 0.7, 1.0, 9.5, 300.0)]),
    "polygamma": (
        lambda n, x: mp.psi(int(n), x),
        [(n, x) for n in (0, 1, 2, 5) for x in (0.03, 0.4, 0.6, 3.3, 40.0)] + [(1, -0.3), (1, -7.6)],
    ),
    "gammainc": (
        lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        [(a, a * r) for a in SHAPES for r in (0.3, 0.95, 1.1, 2.0)],
    ),
    "gammaincc": (
        lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
        [(a, a * r) for a in SHAPES for r in (0.3, 0.95, 1.1, 1.5)],
    ),
    "logaddexp2": (
        lambda a, b: mp.log(mp.mpf(2) ** a + mp.mpf(2) ** b, 2),
        [(0.0, 0.0), (1.5, -3.0), (100.0, 90.5), (-300.0, -301.0)],
    ),
}


@pytest.fixture(scope="module", params=["DEFAULT", "AVX2"])
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    level = request.param
    if level != "DEFAULT" and (
        platform.machine() != "x86_64" or " avx2" not in Path("/proc/cpuinfo").read_text()
    ):
        pytest.skip(f"this processor has no {level}")
    flags = ["-O3", f"-DCPU_CAPABILITY={level}", *(["-mavx2", "-mfma", "-mf16c"] if level == "AVX2" else [])]
    return cpp_driver.build(
        tmp_path_factory.mktemp(level) / "driver", ["tests/aten/vec_math_driver.cpp"], *flags
    )


def apply(driver: Path, name: str, values: Any) -> Any:
    values.tofile(driver.parent / "in")
    cpp_driver.run(
        driver,
        name,
        "float" if values.dtype == np.float32 else "double",
        str(driver.parent / "in"),
        str(driver.parent / "out"),
    )
    return np.fromfile(driver.parent / "out", dtype=values.dtype)


@pytest.mark.parametrize("dtype, rtol", [("float64", 3e-14), ("float32", 1.2e-7)])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_accuracy(driver: Path, name: str, dtype: str, rtol: float) -> None:
    function, points = {**UNARY, **BINARY}[name]
    inputs = np.array(points, dtype=dtype)
    with mp.workdps(60):
        exact = np.array(
            [float(function(*(mp.mpf(float(x)) for x in np.atleast_1d(point)))) for point in inputs]
        )
    with np.errstate(all="ignore"):
        expected = exact.astype(dtype)
    # Next to a zero of a Bessel function the error is that of the argument's rounding.
    atol = 3e-16 if dtype == "float64" and name.startswith("bessel") else 0
    finite = np.isfinite(expected) & (np.abs(expected) > np.finfo(dtype).tiny)
    np.testing.assert_allclose(
        apply(driver, name, inputs.ravel().copy())[finite],
        expected[finite],
        rtol=rtol,
        atol=atol,
        err_msg=name,
    )


def test_edges(driver: Path) -> None:
    def of(name: str, *values: float) -> Any:
        return apply(driver, name, np.array(values))

    inf, nan = math.inf, math.nan
    np.testing.assert_array_equal(of("erfinv", -1, 1, 1.5, nan, 0), [-inf, inf, nan, nan, 0])
    np.testing.assert_array_equal(of("ndtri", 0, 1, -0.5, nan), [-inf, inf, nan, nan])
    np.testing.assert_array_equal(of("erfcx", inf, -inf, nan), [0, inf, nan])
    np.testing.assert_array_equal(of("i0e", inf, -inf, nan), [0, 0, nan])
    np.testing.assert_array_equal(of("bessel_y0", 0, -1, inf, nan), [-inf, nan, 0, nan])
    np.testing.assert_array_equal(of("modified_bessel_k1", 0, -1, inf, nan), [inf, nan, 0, nan])
    np.testing.assert_array_equal(
        of("gammainc", 0, 0, 0, 1, 1, 0, -1, 1, 1, -1, inf, 1, 1, inf, inf, inf),
        [nan, 1, 0, nan, nan, 0, 1, nan],
    )
    np.testing.assert_array_equal(of("zeta", 1, 2, 0.5, 2, 2, 0, 3, -2, 2.5, -0.5), [inf, nan, inf, inf, nan])


def test_parts(driver: Path) -> None:
    x = np.array([1.5, -3.0, 0.0, -0.0, 5e-324, 1e-310, 1e300, math.inf, -math.inf, math.nan])
    mantissa, exponent = np.frexp(x)
    np.testing.assert_array_equal(apply(driver, "frexp_mantissa", x), mantissa)
    np.testing.assert_array_equal(apply(driver, "frexp_exponent", x)[:7], exponent[:7])
