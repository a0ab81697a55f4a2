"""Right derivatives that the checks of linearity, of sizes and of zeros accept."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

_POINTWISE = """\
library: gradients_of_tests
topics:
  Gradients:
    - func: blended_of_tests(Tensor self, Tensor other, *, Scalar weight=1) -> Tensor
      structure: pointwise
      dtypes: floating
      dispatch:
        CPU: f_kernel
      derivatives:
        self: grad
        other: "{formula}"
      reference: self + weight * other
      samples: unary
      doc: A kernel.
"""
_REDUCTION = """\
library: gradients_of_tests
topics:
  Gradients:
    - func: spanned_of_tests(Tensor self, {dim}, bool keepdim=False) -> Tensor
      structure: reduction
      dtypes: floating
      dispatch:
        CPU: g_kernel
      derivatives:
        self: "{formula}"
      samples: unary
      doc: A reduction.
"""


def _problems(text: str, checkout: Path, tree: Program) -> Diagnostics:
    problems = Diagnostics()
    read_program(checkout / "gradients.yaml", problems, tree, checkout, text=text)
    return problems


@pytest.mark.parametrize(
    "formula",
    [
        "grad * weight",
        "sub(grad, 0)",
        "rsub(grad, 0)",
        "rsub(grad, -0.0)",
        "sub(grad, zeros_like(self))",
        "add(zeros_like(self), grad)",
        "add(zeros_like(self), grad, weight)",
        "zeros_like(self) + grad",
        "addcmul(zeros_like(self), grad, self)",
        "addcdiv(zeros_like(self), grad, self)",
        "lerp(zeros_like(self), grad, weight)",
        "lerp(grad, zeros_like(self), self)",
        "xlogy(grad, self)",
        "mul(grad, log(self))",
        "masked_fill(grad, self > 0, 0)",
        "masked_fill(grad, self > 0, false)",
        "where(self > 0, grad * weight, 0)",
        "where(self > 0, grad * weight, -0.0)",
        "where(self > 0, -zeros_like(grad), grad * weight)",
        "where(self > 0, grad * weight, scalar_tensor(0))",
    ],
)
def test_linear_derivatives(formula: str, checkout: Path, tree: Program):
    problems = _problems(_POINTWISE.format(formula=formula), checkout, tree)
    assert not problems, problems.render()


@pytest.mark.parametrize(
    "formula",
    [f"{name}(grad)" for name in ("floor", "ceil", "trunc", "round", "atanh", "asin", "acosh", "log", "sqrt")]
    + ["isnan(grad)", "add(self, grad)", "sub(grad, 1)", "lerp(self, grad, weight)", "square(grad)"],
)
def test_derivatives_that_are_not_linear(formula: str, checkout: Path, tree: Program):
    problems = _problems(_POINTWISE.format(formula=formula), checkout, tree)
    assert [p.message.split(":")[0] for p in problems.sorted()] == ["the formula is not linear in 'grad'"]


_ONE = "int dim"
_SOME = "int[1]? dim=None"
_MASK = "(self == result)"


@pytest.mark.parametrize(
    "dim, formula",
    [
        (_ONE, f"(keepdim ? grad : unsqueeze(grad, dim)) * {_MASK}"),
        (_ONE, f"{_MASK} * (keepdim ? grad : unsqueeze(grad, dim)) / 2"),
        (_ONE, "where(self == result, keepdim ? grad : unsqueeze(grad, dim), 0)"),
        (_ONE, f"keepdim ? grad * {_MASK} : unsqueeze(grad, dim) * {_MASK}"),
        (_SOME, f"dim == none ? grad * {_MASK} : _expand_reduced(grad, self.sizes(), dim, keepdim)"),
        (_SOME, "self.dim() == 0 ? grad : _expand_reduced(grad, self.sizes(), dim, keepdim)"),
        (_SOME, f"_expand_reduced(grad, self.sizes(), dim, keepdim) * {_MASK}"),
    ],
)
def test_gradients_with_the_sizes_of_the_argument(dim: str, formula: str, checkout: Path, tree: Program):
    problems = _problems(_REDUCTION.format(dim=dim, formula=formula), checkout, tree)
    assert not problems, problems.render()


@pytest.mark.parametrize(
    "dim, formula",
    [
        (_SOME, f"grad * {_MASK}"),
        (_ONE, "where(self == result, grad, 0)"),
        (_ONE, "keepdim ? grad : unsqueeze(grad, dim)"),
    ],
)
def test_gradients_with_the_sizes_of_the_result(dim: str, formula: str, checkout: Path, tree: Program):
    problems = _problems(_REDUCTION.format(dim=dim, formula=formula), checkout, tree)
    assert ["'grad' has the sizes of the result" in p.message for p in problems.sorted()] == [True]
