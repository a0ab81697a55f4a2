"""Every dtype that an entry claims can be called, with PyTorch or without it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from codegen.dtypes import DTYPES
from tests.ops.calling import call
from tests.ops.comparison import outcome
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch


def _samples(operator: Operator, dtype: str) -> list[SampleInput]:
    """The samples in ``dtype``; for dtypes that NumPy lacks, the small ones of float32, converted."""
    if dtype == "bfloat16" or hasattr(np, dtype):
        return operator.samples(torch, dtype)
    wanted = getattr(torch, dtype)
    made = operator.samples(torch, "complex64" if dtype.startswith("complex") else "float32")
    return [
        sample.map(lambda t: t.to(wanted) if t.is_floating_point() or t.is_complex() else t)
        for sample in made
    ]


@pytest.mark.skipif(WITH_PEER, reason="the entries' claims are about torch_py")
@enrolled(lambda operator: bool(operator.dtypes))
def test_claimed_dtypes_can_be_called(operator: Operator):
    problems = []
    for dtype in (name for name in DTYPES if name in operator.dtypes):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error = _refusal(operator, _samples(operator, dtype))
        if error is not None:
            problems.append(f"{dtype}: {error}")

    assert not problems, "\n".join(problems)


def _refusal(operator: Operator, samples: list[SampleInput]) -> str | None:
    """Why the first sample cannot be called; None if any can, or if it has no samples."""
    first = None
    for sample in samples:
        error = outcome(call, operator, torch, sample).error
        if error is None:
            return None
        first = first or f"{operator}{sample}: {type(error).__name__}: {error}"
    return first
