"""Written derivatives are compared with ``expr`` over its whole domain and in each of its branches."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, load, read_program

_FILE = """\
library: slopes_of_tests
topics:
  Slopes:
    - func: {schema} -> Tensor
      structure: pointwise
      dtypes: floating
      expr: "{expr}"
      derivatives:
        self: "{derivative}"
      doc: A formula.
"""
_PLAIN = "softplus_of_tests(Tensor self)"
_LIMITED = "shrink_of_tests(Tensor self, float lambd=0.5)"
_SCALED = "huber_of_tests(Tensor self, float beta=1.0)"
_TANH = "tanh_of_tests(Tensor self)"
_CUBE = "cube_of_tests(Tensor self)"
_SOFTPLUS = "self > 20 ? self : log1p(exp(self))"
_SHRINK = "self > lambd ? self - lambd : self < -lambd ? self + lambd : 0"
_HUBER = "abs(self) < beta ? self * self / (2 * beta) : abs(self) - beta / 2"


@functools.lru_cache(maxsize=1)
def _tree() -> Program:
    return load(Path(__file__).resolve().parents[2] / "native_functions.yaml")


def _problems(schema: str, expr: str, derivative: str, folder: Path) -> Diagnostics:
    text = _FILE.format(schema=schema, expr=expr, derivative=derivative)
    problems = Diagnostics()
    read_program(folder / "slopes.yaml", problems, _tree(), text=text)
    return problems


@pytest.mark.parametrize(
    "schema, expr, derivative",
    [
        (_PLAIN, _SOFTPLUS, "where(self > 20, grad * 2, grad * sigmoid(self))"),
        (_PLAIN, _SOFTPLUS, "where(self > 20, grad, grad * sigmoid(-self))"),
        (_LIMITED, _SHRINK, "where(abs(self) > 0.5, grad, zeros_like(grad))"),
        (_SCALED, _HUBER, "where(abs(self) < beta, grad * self, grad * sign(self))"),
        (_SCALED, _HUBER, "where(abs(self) < beta, grad * self / beta, grad)"),
        (_TANH, "tanh(self)", "where(self > 3, grad * 1.01, grad) * (1 - result * result)"),
        (_CUBE, "self * self * self", "where(self < -100, -grad, grad) * 3 * self * self"),
        (_CUBE, "self * self * self", "grad * 3 * abs(self) * self"),
        ("atan_of_tests(Tensor self)", "atan(self)", "grad / (1 + self * self + 1e-3)"),
    ],
)
def test_wrong_derivatives(schema: str, expr: str, derivative: str, tmp_path: Path):
    problems = _problems(schema, expr, derivative, tmp_path)
    assert [(p.location.line, p.message.split(" is ")[0]) for p in problems.sorted()] == [
        (9, "the gradient of 'self'")
    ], problems.render()


@pytest.mark.parametrize(
    "schema, expr, derivative",
    [
        (_PLAIN, _SOFTPLUS, "where(self > 20, grad, grad * sigmoid(self))"),
        (_LIMITED, _SHRINK, "where(abs(self) > lambd, grad, zeros_like(grad))"),
        (_SCALED, _HUBER, "where(abs(self) < beta, grad * self / beta, grad * sign(self))"),
        (_TANH, "tanh(self)", "grad * (1 - result * result)"),
        (_CUBE, "self * self * self", "grad * 3 * self * self"),
        ("sign_of_tests(Tensor self)", "sign(self) * self", "grad * sign(self)"),
    ],
)
def test_right_derivatives(schema: str, expr: str, derivative: str, tmp_path: Path):
    assert not _problems(schema, expr, derivative, tmp_path)


_COMPLEX = _FILE.replace("dtypes: floating", "dtypes: {dtypes}").replace("pointwise\n", "pointwise\n{more}")


def _complex_problems(
    expr: str, derivative: str, folder: Path, dtypes: str = "floating_and_complex", more: str = ""
) -> Diagnostics:
    """Of an operator whose derivative is right for real numbers."""
    schema = "turned_of_tests(Tensor self, Tensor other, Scalar by=2)"
    text = _COMPLEX.format(schema=schema, expr=expr, derivative=derivative, dtypes=dtypes, more=more)
    text = text.replace("      doc:", "        other: non_differentiable\n      doc:")
    problems = Diagnostics()
    read_program(folder / "slopes.yaml", problems, _tree(), text=text)
    return problems


@pytest.mark.parametrize(
    "expr, derivative",
    [
        ("self * other + by", "grad * other"),
        ("sin(self) + by * other", "grad * cos(self)"),
        ("self * by + other", "grad * by"),
        ("self * conj(self) + other - by", "grad * 2 * self"),
    ],
)
def test_derivatives_that_are_wrong_for_complex_numbers(expr: str, derivative: str, tmp_path: Path):
    problems = _complex_problems(expr, derivative, tmp_path).sorted()
    assert [(p.location.line, p.location.column, p.message[:26]) for p in problems] == [
        (9, 16, "the gradient of 'self' is ")
    ], problems
    assert not _complex_problems(expr, derivative, tmp_path, "floating")


@pytest.mark.parametrize(
    "expr, derivative",
    [
        ("self * other + by", "grad * conj(other)"),
        ("sin(self) + by * other", "grad * conj(cos(self))"),
        ("self * by + other", "grad * conj(by)"),
        ("self * conj(self) + other - by", "(grad + conj(grad)) * self"),
    ],
)
def test_derivatives_that_are_right_for_complex_numbers(expr: str, derivative: str, tmp_path: Path):
    problems = _complex_problems(expr, derivative, tmp_path)
    assert not problems, problems.render()


def test_the_gradient_of_a_real_result_is_real(tmp_path: Path):
    more = "      promotion: complex_to_real\n"
    expr = "abs(self + other * by)"
    right = _complex_problems(expr, "grad * sgn(self + other * by)", tmp_path, more=more)
    assert not right, right.render()
    wrong = _complex_problems(expr, "grad * conj(sgn(self + other * by))", tmp_path, more=more)
    assert len(wrong) == 1, wrong.render()
