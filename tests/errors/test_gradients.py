"""Right derivatives that the checks of sizes accept."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

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
