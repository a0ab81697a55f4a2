"""Every operator, exported alone and run by onnxruntime over its samples, as docs/onnx.md says."""

from __future__ import annotations

import pytest

from tests.subject import WITH_PEER

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
if WITH_PEER:
    pytest.skip("looks into torch_py's rules", allow_module_level=True)

import torch_py as torch  # noqa: E402
from tests.ops.operators import Operator  # noqa: E402
from tests.torch_py.onnx.coverage import documented, enrolled, outcome_of  # noqa: E402
from torch_py._ops import find_overload  # noqa: E402
from torch_py.onnx import _rules  # noqa: E402, F401
from torch_py.onnx._memory import WRITE_VIEW  # noqa: E402
from torch_py.onnx._registry import DECOMPOSITIONS, RULES  # noqa: E402

DOCUMENTED = documented()


@pytest.mark.parametrize("operator", enrolled(), ids=str)
def test_operator_in_onnxruntime(operator: Operator):
    outcome = outcome_of(operator)
    assert not outcome.failures
    assert outcome.status == DOCUMENTED.get(str(operator), ""), (
        f"{outcome.refusals}; write docs/onnx.md anew: python -m tests.torch_py.onnx.coverage"
    )


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_integers_in_onnxruntime(dtype):
    """Models with other dtypes are right, too, or refused."""
    for operator in enrolled():
        assert not outcome_of(operator, (dtype,), 2).failures, operator


def overloads_of(key: str) -> list:
    """The operators that a key of the tables means."""
    name, _, only = key.partition(".")
    entries = [
        entry for entry in torch._C._operator_schemas() if entry.partition(".")[0] in (name, f"{name}_")
    ]
    return [
        operator for operator in map(find_overload, entries) if not only or operator._overloadname == only
    ]


@pytest.mark.parametrize("key", [*RULES, *DECOMPOSITIONS])
def test_rules_are_of_operators(key):
    """Any other name would never be used."""
    assert key == WRITE_VIEW or overloads_of(key)


@pytest.mark.parametrize("key", DECOMPOSITIONS)
def test_views_are_not_decomposed(key):
    """The result of a decomposition does not share memory, so a write to it would be lost."""
    assert not any(operator.is_view for operator in overloads_of(key))
