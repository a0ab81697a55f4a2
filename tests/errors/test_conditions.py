"""Conditions of ``requires:`` that some arguments satisfy: none is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

_FOLDER = Path(__file__).parent
_ACCEPTED = [
    row
    for row in (_FOLDER / "accepted_conditions.txt").read_text().splitlines()
    if row and not row.startswith("#")
]
_ENTRY = """\
topics:
  Conditions:
    - func: f({arguments}) -> Tensor
      structure: composite
      dispatch:
        All: composite_function
      requires:
        - check: "{condition}"
      samples: unary
      doc: Text.
"""
_ARGUMENTS = "Tensor self, Tensor other, int n, float cap, Scalar weight, bool flag, Tensor? bias, int[] dims"
_FUNCTIONS = (
    *("dim", "size", "sizes", "numel", "broadcast", "dtype", "device", "defined", "promote"),
    *("is_floating", "is_complex", "is_integral", "same", "no_internal_overlap", "no_partial_overlap"),
    *("len", "min", "max", "all"),
)


def _problems(condition: str, arguments: str, checkout: Path, tree: Program) -> str:
    problems = Diagnostics()
    text = _ENTRY.format(arguments=arguments, condition=condition)
    read_program(checkout / "conditions.yaml", problems, tree, checkout, text=text)
    return problems.render() if problems else ""


@pytest.mark.parametrize("condition", _ACCEPTED)
def test_conditions_are_accepted(condition: str, checkout: Path, tree: Program):
    assert _problems(condition, _ARGUMENTS, checkout, tree) == ""


def test_defaults_need_not_satisfy_conditions_about_tensors(checkout: Path, tree: Program):
    for condition in ("dim(self) == 1 and a == 3 and b == 2", "dim(self) > 0 and a == 7"):
        assert _problems(condition, "Tensor self, int a=0, int b=0", checkout, tree) == ""


@pytest.mark.parametrize("function", _FUNCTIONS)
def test_numbers_of_arguments(function: str, checkout: Path, tree: Program):
    """Each call is checked without a crash, whatever its arguments are."""
    for arguments in ("", "self", "n", "self, 0", "self, other", "self, 0, 1", "dtype(self)"):
        call = f"{function}({arguments})"
        for condition in (call, f"{call} == {call}", f"not {call}", f"{call} > 0", f"{call} in [{call}]"):
            _problems(f"dim(self) > 0 and {condition}", _ARGUMENTS, checkout, tree)
