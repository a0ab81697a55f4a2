"""The generated header compiles without warnings and computes what its formulas say."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")

# Functions of a header are static; these are what a library exports of them.
EXPORTED = """
#include "smooth.h"
double call_softcap(double x, double cap) { return softcap(x, cap); }
double call_gradient(double g, double x, double cap) {
  return softcap_gradient_self(g, softcap(x, cap), cap);
}
void call_huber(const double* x, const double* y, double d, double* out, size_t n) {
  huber_n(x, y, d, out, n);
}
"""


def codegen(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codegen", *arguments, "--target", "c_header"]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("header")
    result = codegen("generate", "--output", str(folder))
    assert result.returncode == 0, result.stderr

    (folder / "exported.c").write_text(EXPORTED)
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    assert COMPILER is not None
    subprocess.run([COMPILER, *flags, "exported.c", "-o", "exported.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "exported.so"))


def double(library: ctypes.CDLL, name: str, *values: float) -> float:
    function = getattr(library, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * len(values)
    return float(function(*values))


@needs_compiler
def test_value_and_gradient(library: ctypes.CDLL) -> None:
    assert double(library, "call_softcap", 1.5, 2.0) == pytest.approx(2 * math.tanh(0.75))
    width = 1e-6
    above, below = (double(library, "call_softcap", 1.5 + step, 2.0) for step in (width, -width))
    slope = (above - below) / (2 * width)
    assert double(library, "call_gradient", 3.0, 1.5, 2.0) == pytest.approx(3 * slope)


@needs_compiler
def test_loop(library: ctypes.CDLL) -> None:
    numbers = ctypes.c_double * 3
    out = numbers()
    library.call_huber(numbers(0, 0.5, 4), numbers(0, 0, 0), ctypes.c_double(1.0), out, ctypes.c_size_t(3))
    assert list(out) == pytest.approx([0, 0.125, 3.5])


def test_mistakes_are_reported_where_they_are(tmp_path: Path) -> None:
    text = (PROJECT / "operators.yaml").read_text()
    (tmp_path / "wrong.yaml").write_text(text.replace("self * sigmoid(self)", "self * digamma(self)"))
    result = codegen("check", "--yaml", str(tmp_path / "wrong.yaml"))
    assert result.returncode == 1
    assert "wrong.yaml:13:20: swish: C has no function 'digamma'" in result.stderr
