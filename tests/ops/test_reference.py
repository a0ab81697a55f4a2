"""Values equal those of PyTorch where it is installed; test_formulas compares those that it lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.calling import call, exists_in, tensors_of
from tests.ops.comparison import assert_same, outcome, to_numpy
from tests.ops.known_differences import (
    NOT_COMPARED,
    NOT_COMPARED_IF_INFINITE,
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
