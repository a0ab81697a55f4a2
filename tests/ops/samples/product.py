"""Samples of products of elements."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import over_all, tensors
from tests.ops.samples.registry import SampleInput, samples


@samples("reduction_one_dim")
def reduction_one_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, low=-1.5, high=1.5):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, True)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1)
    # One zero and two zeros: the gradient must not divide by them.
    yield SampleInput(make.values([[1, 0, 2], [0, 3, 0]]), 1)
    if not make.is_complex:
        yield SampleInput(make(2, 3), 1, dtype=make.torch.float64)


@samples("reduction_all")
def reduction_all(make: Make) -> Iterator[SampleInput]:
    yield from over_all(make, low=-1.5, high=1.5)
    yield SampleInput(make(0))
    yield SampleInput(make.values([1, 0, 2]))
    yield SampleInput(make(2, 3), dtype=make.torch.complex128 if make.is_complex else make.torch.float64)
