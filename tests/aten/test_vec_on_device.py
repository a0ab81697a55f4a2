"""Functions of aten/vec in kernels: compiled for a GPU and for its emulation; the complex formulas."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

sys.path.insert(0, str(Path(__file__).resolve().parent))
import vec_kernels

sys.path.insert(0, str(cpp_driver.REPOSITORY))
from tools.build.cuda import NVCC_FLAGS

np = pytest.importorskip("numpy")

COMPLEX_FUNCTIONS = ("exp log sqrt sinh cosh tanh sin cos tan asin acos atan asinh acosh atanh").split()
SPECIAL = [0.0, 1.0, 0.5, 2.0, 30.0, 720.0, 1e-9, 1e-160, 1e-300, 1e160, 1e300, 1 + 1e-12, np.inf, np.nan]


def compile_kernels(folder: Path, *command: str) -> None:
    path = folder / "kernels.cu"
    path.write_text(vec_kernels.source())
    result = subprocess.run(
        [*command, "-std=c++20", "-I.", str(path)],
        cwd=cpp_driver.REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert "warning" not in result.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_compiles_every_function(tmp_path: Path) -> None:
    output = ("-arch=compute_90", "-ptx", "-o", str(tmp_path / "kernels.ptx"))
    compile_kernels(tmp_path, "nvcc", *(flag for flag in NVCC_FLAGS if "compress" not in flag), *output)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_emulation_compiles_every_function(tmp_path: Path) -> None:
    emulated = ("-DTORCH_PY_CUDA_EMULATION", "-Wall", "-Wextra", "-fsyntax-only", "-x", "c++")
    compile_kernels(tmp_path, "g++", *emulated)


@pytest.fixture(scope="module")
def formulas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that reads pairs of numbers and writes the formulas' values and the C library's."""
    folder = tmp_path_factory.mktemp("formulas")
    return cpp_driver.build(folder / "driver", ["tests/aten/complex_formulas_driver.cpp"], "-O1")


def both(program: Path, folder: Path, name: str, points: list[complex]) -> tuple[object, object]:
    source = folder / "points"
    np.array(points, dtype=np.complex128).tofile(source)
    cpp_driver.run(program, name, str(source), str(folder / "values"))
    values = np.fromfile(folder / "values", dtype=np.complex128).reshape(-1, 2)
    return values[:, 0], values[:, 1]


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
def test_complex_functions_equal_the_c_librarys(formulas: Path, tmp_path: Path, name: str) -> None:
    random = np.random.default_rng(0)
    scales = 10.0 ** random.uniform(-4, 2, 20_000)
    parts = random.uniform(-1, 1, (2, 20_000)) * scales
    ours, expected = both(formulas, tmp_path, name, list(parts[0] + 1j * parts[1]))
    for ours_part, part in ((ours.real, expected.real), (ours.imag, expected.imag)):
        assert np.all(np.abs(ours_part - part) <= 10 * np.spacing(np.abs(part)))


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
def test_complex_functions_at_special_values(formulas: Path, tmp_path: Path, name: str) -> None:
    signed = [sign * value for value in SPECIAL for sign in (1.0, -1.0)]
    points = [complex(x, y) for x in signed for y in signed]
    ours, expected = both(formulas, tmp_path, name, points)
    for part in ("real", "imag"):
        a, b = getattr(ours, part), getattr(expected, part)
        with np.errstate(invalid="ignore"):
            is_close = np.abs(a - b) <= 1e-14 * np.abs(b)
        same = (np.isnan(a) & np.isnan(b)) | (a == b) | is_close
        same_zero = (b != 0) | (np.signbit(a) == np.signbit(b))
        for position in np.flatnonzero(~same | ~same_zero):
            assert is_open(name, points[position]), (points[position], ours[position], expected[position])


def is_open(name: str, point: complex) -> bool:
    """Whether C99 leaves the sign of an infinity or zero open."""
    x, y = point.real, point.imag
    if name == "exp":
        return x == -np.inf and not np.isfinite(y)
    if name not in ("sinh", "cosh", "sin", "cos"):
        return False
    if name in ("sin", "cos"):  # the functions above of i z
        x, y = y, x
    return (not np.isfinite(y) and (x == 0 or not np.isfinite(x))) or (np.isnan(x) and y == 0)
