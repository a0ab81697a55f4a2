"""Samples of variances and standard deviations."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import dim_errors, tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("variance")
def variance(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, correction=0)
        yield SampleInput(tensor, [0, -1] if tensor.dim() > 1 else 0, correction=2, keepdim=True)
    yield SampleInput(make(3, 4), 0, correction=0.5)


@samples("variance_dim")
def variance_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, [-1], False)
        yield SampleInput(tensor, 0, True, True)
    yield SampleInput(make(3, 4), [0, 1], False)


@samples("variance_unbiased")
def variance_unbiased(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, True)
        yield SampleInput(tensor, False)


@error_samples("variance", "variance_dim")
def variance_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)
    yield ErrorInput(SampleInput(make(2, 3, dtype="int64"), 0), RuntimeError, "floating|dtype|Long|int64")
