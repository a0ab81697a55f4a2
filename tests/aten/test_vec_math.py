"""The accuracy and special values of aten/vec on each instruction set.

Accuracy is measured in units in the last place against mpmath; special values are compared with the C
library.
"""

from __future__ import annotations

import math
import platform
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

from codegen.expressions import functions

np = pytest.importorskip("numpy")

LEVELS = {
    "DEFAULT": [],
    "AVX2": ["-mavx2", "-mfma", "-mf16c"],
    "AVX512": [
        "-mavx512f",
        "-mavx512dq",
        "-mavx512bw",
        "-mavx512vl",
        "-mavx2",
        "-mfma",
        "-mf16c",
        "-mprefer-vector-width=512",
    ],
}
CPU_FLAGS = {"DEFAULT": "", "AVX2": " avx2", "AVX512": " avx512vl"}

# Functions of one argument for which NumPy in float64 is a reference for float32.
REFERENCES = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "square": np.square,
    "sigmoid": lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x))),
    "softplus": lambda x: np.logaddexp(0, x),
    "erf": np.vectorize(math.erf, otypes=["d"]),
    "erfc": np.vectorize(math.erfc, otypes=["d"]),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "abs": np.abs,
    "relu": lambda x: np.where(x < 0, 0.0, x),
    "sign": lambda x: np.where(np.isnan(x), 0.0, np.sign(x)),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
BINARY_REFERENCES = {
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
FROM_MPMATH = ["erf", "sin", "cos"]  # functions of double that NumPy is not precise enough for
LIMIT = 2.0  # units in the last place, for float
PACK_LIMIT = 1.5  # the same for packs, and for double
PACKED = [name for name in REFERENCES if name in functions.PACKED]
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    math.inf,
    -math.inf,
    math.nan,
    1e-45,
    -1e-45,
    3.4e38,
    -3.4e38,
]


@pytest.fixture(scope="module", params=list(LEVELS))
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    level = request.param
    cpuinfo = Path("/proc/cpuinfo")
    features = cpuinfo.read_text() if cpuinfo.exists() else ""
    if level != "DEFAULT" and (platform.machine() != "x86_64" or CPU_FLAGS[level] not in features):
        pytest.skip(f"this processor has no {level}")
    flags = ["-O3", f"-DCPU_CAPABILITY={level}", *LEVELS[level]]
    folder = tmp_path_factory.mktemp(f"vec_math_{level}")
    return cpp_driver.build(folder / "driver", ["tests/aten/vec_math_driver.cpp"], *flags)


def apply(driver: Path, name: str, values: np.ndarray, packs: bool = False) -> np.ndarray:
    values.tofile(driver.parent / "in")
    cpp_driver.run(
        driver,
        name,
        "packs" if packs else "float" if values.dtype == np.float32 else "double",
        str(driver.parent / "in"),
        str(driver.parent / "out"),
    )
    return np.fromfile(driver.parent / "out", dtype=values.dtype)


def largest_error(result: np.ndarray, exact: np.ndarray, inputs: np.ndarray) -> tuple[float, object]:
    """The largest distance in float32 units in the last place, and where it is; inf where NaN differs."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.minimum(np.abs(rounded), np.float32(3e38))).astype(np.float64)
        error = np.abs(result.astype(np.float64) - exact) / unit
        same = (result == rounded) | (np.isnan(result) & np.isnan(exact))
        error = np.where(same, np.minimum(np.nan_to_num(error, nan=0.0, posinf=0.0), 0.5), error)
        error = np.where(np.isnan(error), np.inf, error)
    worst = int(np.argmax(error))
    return float(error[worst]), inputs[worst]


def exact_values(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        exact = REFERENCES[name](x.astype(np.float64)).astype(np.float64)
    return np.where(x < -700, 0.0, exact) if name == "sigmoid" else exact


def sample_floats(count: int, seed: int) -> np.ndarray:
    """Every exponent and sign alike, values of ordinary size, and the special ones."""
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    ordinary = (rng.standard_normal(count) * rng.choice([0.1, 1, 10, 100], count)).astype(np.float32)
    return np.concatenate([any_bits, ordinary, np.array(SPECIAL, np.float32)])


@pytest.mark.parametrize("name", list(REFERENCES))
def test_float_accuracy(driver: Path, name: str) -> None:
    x = sample_floats(100_000 if name not in ("erf", "erfc") else 40_000, 1)
    error, where = largest_error(apply(driver, name, x), exact_values(name, x), x)
    assert error <= LIMIT, f"{name}({where!r}) is {error:.2f} units off"


def sample_doubles(count: int, seed: int) -> np.ndarray:
    """Every exponent and sign alike, values of ordinary size, around 1, near the largest, and special.

    The range around ln 2 / 2, where exponentials change from one power of two to the next, is dense.
    """
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    ordinary = rng.standard_normal(count) * rng.choice([0.01, 0.1, 1, 10, 100], count)
    near_limits = rng.choice([-1, 1], count) * rng.uniform(700, 750, count)
    near_one = 1 + rng.standard_normal(count) * 10.0 ** rng.integers(-17, 0, count)
    near_half_ln2 = rng.choice([-1, 1], count) * rng.uniform(0.3, 0.7, count)
    special = [*SPECIAL, 5e-324, -5e-324, 1.7e308, -1.7e308, 709.782712893384, -745.1332191019412]
    hard = [0.35788545124272564]  # once 1.58 units off in expm1
    return np.concatenate([any_bits, ordinary, near_limits, near_one, near_half_ln2, special, hard])


def in_long_double(name: str, x: np.ndarray) -> np.ndarray:
    """The function in long double. NumPy has no erf, and sin and cos near multiples of pi need more."""
    if name not in FROM_MPMATH:
        return REFERENCES[name](x.astype(np.longdouble))
    mpmath = pytest.importorskip("mpmath")
    function = getattr(mpmath, name)
    with mpmath.workprec(80):
        values = [
            function(float(value)) if math.isfinite(value) or name == "erf" else math.nan for value in x
        ]
        return np.array([np.longdouble(mpmath.nstr(value, 25)) for value in values])


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long double has no more bits than double here"
)
@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "log", "log1p", "tanh", *FROM_MPMATH])
def test_double_accuracy(driver: Path, name: str) -> None:
    x = sample_doubles(2_000 if name in FROM_MPMATH else 100_000, 8)
    if name in ("sin", "cos"):
        # Numbers next to multiples of pi/2, and around the largest that are not left to the C library.
        turns = np.array([1, 2, 3, 4, 5, 710, 2**20, 2**29, 2**29 + 1]) * (math.pi / 2)
        limits = np.nextafter(2.0**30, [0, 2**31])
        x = np.concatenate([x, turns, -turns, limits])
    result = apply(driver, name, x)
    with np.errstate(all="ignore"):
        exact = in_long_double(name, x)
        rounded = exact.astype(np.float64)
        unit = np.spacing(np.minimum(np.abs(rounded), 1.7e308))
        error = (np.abs(result - exact) / unit).astype(np.float64)

    same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
    error = np.nan_to_num(np.where(same, 0.0, error), nan=np.inf)
    worst = int(np.argmax(error))
    assert error[worst] <= PACK_LIMIT, f"{name}({x[worst]!r}) is {error[worst]:.2f} units off"
    zeros = np.array([0.0, -0.0])
    if name in ("expm1", "log1p", "tanh", "erf", "sin"):
        assert list(np.signbit(apply(driver, name, zeros))) == [False, True]


@pytest.fixture(scope="module")
def pack_driver(driver: Path) -> Path:
    if cpp_driver.run(driver, "packs").strip() != "yes":
        pytest.skip("this instruction set has no packs")
    return driver


@pytest.mark.parametrize("name", PACKED)
def test_accuracy_of_packs(pack_driver: Path, name: str) -> None:
    x = sample_floats(400_000 if name != "erf" else 40_000, 5)
    error, where = largest_error(apply(pack_driver, name, x, packs=True), exact_values(name, x), x)
    assert error <= PACK_LIMIT, f"{name}({where!r}) is {error:.2f} units off"


@pytest.mark.parametrize("name", PACKED)
def test_lanes_do_not_depend_on_each_other(pack_driver: Path, name: str) -> None:
    x = sample_floats(10_000, 6)
    order = np.random.default_rng(7).permutation(len(x))
    in_order = apply(pack_driver, name, x, packs=True)
    shuffled = apply(pack_driver, name, x[order], packs=True)
    np.testing.assert_array_equal(shuffled.view(np.uint32), in_order[order].view(np.uint32))


def test_signs_of_zero_in_packs(pack_driver: Path) -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    for name in ["sin", "tanh", "erf", "sqrt", "relu", "floor", "ceil", "trunc", "round"]:
        assert list(np.signbit(apply(pack_driver, name, zeros, packs=True))) == [False, True], name


@pytest.mark.parametrize("name", list(BINARY_REFERENCES))
def test_float_accuracy_of_two_arguments(driver: Path, name: str) -> None:
    x, y = sample_floats(100_000, 2), sample_floats(100_000, 3)
    special = np.array(SPECIAL, np.float32)
    first = np.concatenate([x, x, np.repeat(special, len(special))])
    second = np.concatenate([y, np.roll(x, 1), np.tile(special, len(special))])
    with np.errstate(all="ignore"):
        exact = BINARY_REFERENCES[name](first.astype(np.float64), second.astype(np.float64))
    pairs = np.stack([first, second], axis=1)
    error, where = largest_error(apply(driver, name, pairs.ravel().copy()), exact, pairs)
    assert error <= LIMIT, f"{name}({where!r}) is {error:.2f} units off"


def test_signs_of_zero(driver: Path) -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    odd = ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "erf"]
    for name in [*odd, "floor", "ceil", "trunc", "round", "sqrt"]:
        assert list(np.signbit(apply(driver, name, zeros))) == [False, True], name
    pairs = np.array([[0.0, -0.0], [-0.0, -0.0], [0.0, 0.0], [-0.0, 0.0], [-0.0, 1.0]], np.float32)
    expected = np.arctan2(pairs[:, 0], pairs[:, 1])
    np.testing.assert_array_equal(
        np.copysign(1, apply(driver, "atan2", pairs.ravel())), np.copysign(1, expected)
    )


def test_logaddexp(driver: Path) -> None:
    special = np.array(SPECIAL, np.float32)
    pairs = np.stack([np.repeat(special, len(special)), np.tile(special, len(special))], axis=1)
    with np.errstate(all="ignore"):
        expected = np.logaddexp(pairs[:, 0].astype(np.float64), pairs[:, 1].astype(np.float64)).astype(
            np.float32
        )
    np.testing.assert_allclose(apply(driver, "logaddexp", pairs.ravel().copy()), expected, rtol=3e-7)


def test_gamma_functions(driver: Path) -> None:
    mpmath = pytest.importorskip("mpmath")
    x = np.concatenate([np.linspace(-8.3, 30, 200), [1e-5, 1e5, -1e-5]])
    for name, reference in [
        ("lgamma", lambda v: mpmath.log(abs(mpmath.gamma(v)))),
        ("digamma", mpmath.digamma),
    ]:
        expected = np.array([float(reference(mpmath.mpf(float(v)))) for v in x])
        np.testing.assert_allclose(apply(driver, name, x), expected, rtol=1e-11, atol=1e-13)

        expected = np.array([float(reference(mpmath.mpf(float(v)))) for v in x.astype(np.float32)])
        np.testing.assert_allclose(apply(driver, name, x.astype(np.float32)), expected, rtol=2e-7, atol=1e-10)

    edges = apply(driver, "digamma", np.array([0.0, -0.0, -3.0, math.nan, math.inf]))
    np.testing.assert_array_equal(edges, [-math.inf, math.inf, math.nan, math.nan, math.inf])


def test_double_matches_the_library(driver: Path) -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.standard_normal(5000) * 10, np.array(SPECIAL)])
    for name, reference in REFERENCES.items():
        with np.errstate(all="ignore"):
            expected = np.asarray(reference(x), dtype=np.float64)
        np.testing.assert_allclose(apply(driver, name, x), expected, rtol=1e-13, atol=1e-320, err_msg=name)
