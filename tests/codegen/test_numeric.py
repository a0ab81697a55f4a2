"""``check --numeric`` compares the gradients of the built kernels with their values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, load
from codegen.targets.torch_py.cli import numeric

pytest.importorskip("torch_py._C", reason="the library is not built")
_TREE = Path(__file__).resolve().parents[2] / "native_functions.yaml"


@pytest.fixture(scope="module")
def program() -> Program:
    tree = load(_TREE)
    names = ("hypot", "remainder_Tensor", "copysign_Tensor", "_clamp", "logit")
    return replace(tree, operators={n: o for n, o in tree.operators.items() if n in names})


def test_right_gradients(program: Program):
    problems = Diagnostics()
    compared, skipped = numeric.check_kernels(program, problems)
    assert compared > 0 and not skipped and not problems, problems.render()


@pytest.mark.parametrize("factor", [-1.0, 1.01])
def test_wrong_gradients(factor: float, program: Program, monkeypatch: pytest.MonkeyPatch):
    right = numeric._gradient

    def wrong(*arguments):
        values, grad = right(*arguments)
        return [factor * value for value in values], grad

    monkeypatch.setattr(numeric, "_gradient", wrong)
    problems = Diagnostics()
    compared, _ = numeric.check_kernels(program, problems)
    found = {problem.operator for problem in problems.sorted()}
    assert len(found) == compared, problems.render()
    assert all("but that of the kernel" in problem.message for problem in problems.sorted())


def test_gradients_at_complex_numbers(monkeypatch: pytest.MonkeyPatch):
    """Without conj, the gradient of a product is right for real numbers alone."""
    tree = load(_TREE)
    program = replace(tree, operators={"mul_Tensor": tree.operators["mul_Tensor"]})
    right = Diagnostics()
    assert numeric.check_kernels(program, right) == (1, []) and not right, right.render()

    own = numeric._gradient

    def without_conj(torch, operator, name, values):
        return own(torch, operator, name, {n: v.conj().resolve_conj() for n, v in values.items()})

    monkeypatch.setattr(numeric, "_gradient", without_conj)
    problems = Diagnostics()
    numeric.check_kernels(program, problems)
    assert [p.operator for p in problems.sorted()] == ["mul.Tensor"] * 2, problems.render()
    assert all("j at self = " in p.message for p in problems.sorted()), problems.render()
