"""Values equal the formula of ``expr:`` in NumPy, and those of PyTorch where it is installed."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from codegen.expressions import numpy_special
from tests.ops.calling import call, exists_in, tensors_of
from tests.ops.comparison import TOLERANCES, assert_close, assert_same, dtype_name, outcome, to_numpy
from tests.ops.known_differences import (
    NOT_COMPARED,
    NOT_COMPARED_IF_INFINITE,
    NOT_COMPARED_WITH_NUMPY_IF_INFINITE,
    STRIDES,
    UP_TO_PHASE,
    WITHOUT_VALUES,
)
from tests.ops.operators import OTHER_DTYPES, Operator, enrolled, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

_OTHER_SAMPLES = 4


@pytest.fixture(scope="module")
def peer() -> Any:
    module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if WITH_PEER:
        pytest.skip("PyTorch would be compared with itself")
    return module


@enrolled_with_dtypes()
def test_equals_pytorch(operator: Operator, dtype: str, peer: Any):
    if not exists_in(operator, peer):
        pytest.skip("PyTorch has no such operator")

    for key in ((str(operator), dtype), (str(operator), "*")):
        if key in NOT_COMPARED:
            pytest.skip(NOT_COMPARED[key])

    has_strides = dtype == "float32" and str(operator) not in STRIDES
    problems = []

    for ours, theirs in zip(operator.samples(torch, dtype), operator.samples(peer, dtype), strict=True):
        if str(operator) in NOT_COMPARED_IF_INFINITE and not is_finite(ours):
            continue
        try:
            compare_with_peer(operator, dtype, ours, theirs, peer, has_strides)
        except AssertionError as error:
            problems.append(str(error))

    assert not problems, f"{len(problems)} samples differ\n" + "\n".join(problems[:8])


@enrolled()
def test_equals_pytorch_in_other_dtypes(operator: Operator, peer: Any):
    if not exists_in(operator, peer):
        pytest.skip("PyTorch has no such operator")

    for dtype in OTHER_DTYPES:
        if (
            not operator.takes(dtype)
            or (str(operator), dtype) in NOT_COMPARED
            or (str(operator), "*") in NOT_COMPARED
        ):
            continue

        for ours, theirs in list(
            zip(operator.samples(torch, dtype), operator.samples(peer, dtype), strict=True)
        )[:_OTHER_SAMPLES]:
            compare_with_peer(operator, dtype, ours, theirs, peer, False)


def compare_with_peer(
    operator: Operator, dtype: str, ours: SampleInput, theirs: SampleInput, peer: Any, strides: bool
) -> None:
    values = not operator.is_random and str(operator) not in WITHOUT_VALUES
    context = f"{operator}{ours}"
    found, expected = outcome(call, operator, torch, ours), outcome(call, operator, peer, theirs)
    if isinstance(expected.error, NotImplementedError):
        return  # nothing to compare with
    if expected.error is not None and any(result.numel() == 0 for result in tensors_of(found.result)):
        return  # without elements no kernel has to refuse anything
    if expected.error is not None:
        assert found.error is not None, (
            f"{context}: returned, PyTorch raises {type(expected.error).__name__}: {expected.error}"
        )
        return  # test_errors compares exceptions
    if (
        isinstance(found.error, NotImplementedError)
        and dtype not in operator.dtypes
        and dtype not in ("float32", "float64")
    ):
        return  # an operator without ``dtypes:`` takes those of what it calls
    assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"
    pair = (found.result, expected.result)
    if str(operator) in UP_TO_PHASE and not torch.backends.mkl.is_available():
        pair = (magnitudes(found.result), magnitudes(expected.result))
    assert_same(*pair, context, values, strides)
    if values:
        # In-place operators write to their arguments, as training does to running statistics.
        assert_same(ours.tensors(), theirs.tensors(), f"the arguments after {context}")


def magnitudes(result: Any) -> list[Any]:
    """For vectors whose sign or phase depends on the LAPACK library."""
    return [abs(tensor) for tensor in tensors_of(result)]


def is_finite(sample: SampleInput) -> bool:
    return all(np.isfinite(to_numpy(tensor)).all() for tensor in sample.tensors())


@enrolled_with_dtypes(select=lambda operator: operator.numpy is not None)
def test_equals_its_formula(operator: Operator, dtype: str):
    formula = compile(operator.numpy, f"{operator} in NumPy", "eval")
    for sample in operator.samples(torch, dtype):
        if len({dtype_name(tensor) for tensor in sample.tensors()}) > 1:
            continue  # promotion is compared with PyTorch

        arguments = operator.bind(sample)
        assert arguments is not None
        names = {name: wide(value) for name, value in with_defaults(operator, arguments).items()}
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

        kind = dtype_name(result)
        compared = expected if kind in TOLERANCES else expected.astype(kind)
        shape = tuple(result.shape)
        assert_close(
            to_numpy(result),
            representable(np.broadcast_to(compared, shape), kind),
            kind,
            f"{operator}{sample}",
        )


def with_defaults(operator: Operator, arguments: dict[str, Any]) -> dict[str, Any]:
    defaults = {a.name: a.default_value for a in operator.schema.arguments if a.has_default}
    return {**defaults, **arguments}


def wide(value: Any) -> Any:
    """Arguments in double precision, so that only the result is rounded; booleans become 0 and 1."""
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
