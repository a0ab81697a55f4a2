"""Values equal ``expr:`` or ``reference:`` in NumPy, and no operator's values are compared with nothing."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from codegen.expressions import numpy_special
from codegen.model.checks.reference import MODULES
from tests.ops.calling import call, exists_in, tensors_of
from tests.ops.comparison import TOLERANCES, assert_close, dtype_name, outcome, to_numpy
from tests.ops.known_differences import NOT_COMPARED_IF_INFINITE, NOT_COMPARED_WITH_NUMPY_IF_INFINITE
from tests.ops.operators import Operator, enrolled, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.ops.test_reference import is_finite
from tests.subject import WITH_PEER, only_torch_py, torch


def is_expression(reference: str | None) -> bool:
    return reference is not None and not reference.startswith("tests/")


@only_torch_py
@enrolled(lambda operator: operator.numpy is None and operator.reference is None and operator.each is None)
def test_values_are_compared(operator: Operator):
    """Those of a kernel that PyTorch lacks would otherwise be compared with nothing."""
    peer = pytest.importorskip("torch", reason="PyTorch is not installed")
    assert exists_in(operator, peer), (
        f"the values of {operator} are compared with nothing: write reference: and what it computes in "
        "NumPy, or the path of a test of its values"
    )


@enrolled_with_dtypes(select=lambda operator: is_expression(operator.reference))
def test_equals_its_reference(operator: Operator, dtype: str):
    reference = compile(operator.reference, f"the reference of {operator}", "eval")
    modules = {
        name: pytest.importorskip(module)
        for name, module in MODULES.items()
        if f"{name}." in operator.reference
    }
    for sample in operator.samples(torch, dtype):
        with np.errstate(all="ignore"):
            expected = eval(reference, {**modules, **arguments_in_numpy(operator, sample)})
        done = outcome(call, operator, torch, sample)
        assert done.error is None, f"{operator}{sample}: {type(done.error).__name__}: {done.error}"

        # What an operator without results computes is what it has written to its first argument.
        found = tensors_of(sample.input if operator.is_mutation else done.result)
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        for result, values in zip(found, expected, strict=True):
            compare(result, np.asarray(values), f"{operator}{sample}")


@enrolled_with_dtypes(select=lambda operator: operator.numpy is not None)
def test_equals_its_formula(operator: Operator, dtype: str):
    formula = compile(operator.numpy, f"{operator} in NumPy", "eval")
    for sample in operator.samples(torch, dtype):
        if len({dtype_name(tensor) for tensor in sample.tensors()}) > 1:
            continue  # promotion is compared with PyTorch

        names = arguments_in_numpy(operator, sample)
        with np.errstate(all="ignore"):
            expected = np.asarray(eval(formula, {"np": np, "special": numpy_special, **names}))

        done = outcome(call, operator, torch, sample)
        if done.error is not None and WITH_PEER:
            pytest.skip("PyTorch does not take this dtype")
        assert done.error is None, f"{operator}{sample}: {type(done.error).__name__}: {done.error}"
        result = done.result

        known = NOT_COMPARED_IF_INFINITE if WITH_PEER else NOT_COMPARED_WITH_NUMPY_IF_INFINITE
        if str(operator) in known and not is_finite(sample):
            continue

        compare(result, expected, f"{operator}{sample}")


def compare(result: Any, expected: Any, context: str) -> None:
    """Compares a tensor with values in double precision."""
    kind = dtype_name(result)
    compared = expected if kind in TOLERANCES else expected.astype(kind)
    found = to_numpy(result)
    assert_close(found, representable(np.broadcast_to(compared, found.shape), kind), kind, context)


def arguments_in_numpy(operator: Operator, sample: SampleInput) -> dict[str, Any]:
    """All arguments by name, those left out with their default."""
    arguments = operator.bind(sample)
    assert arguments is not None
    given = {}
    for argument in operator.schema.arguments.flat_non_out:
        value = arguments.get(argument.name, argument.default_value if argument.has_default else None)
        is_one = argument.type.is_list and isinstance(value, int)
        given[argument.name] = wide([value] if is_one else value)
    return given


def wide(value: Any) -> Any:
    """Arguments in double precision, so that only the result is rounded; booleans become 0 and 1."""
    if isinstance(value, list):
        return [wide(item) for item in value]
    if not hasattr(value, "stride"):
        return value
    array = to_numpy(value)
    kinds = {"f": np.float64, "c": np.complex128, "b": np.int64}
    return array.astype(kinds.get(array.dtype.kind, array.dtype))


def representable(array: Any, dtype: str) -> Any:
    """The values in the range of the dtype: overflow gives infinity, underflow zero."""
    names = types.MappingProxyType({"bfloat16": "float32"})
    with np.errstate(all="ignore"):
        return array.astype(names.get(dtype, dtype))
