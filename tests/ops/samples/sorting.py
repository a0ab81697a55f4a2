"""Samples of sort and topk."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import dim_errors, tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("sort")
def sort(make: Make) -> Iterator[SampleInput]:
    # Which of equal elements comes first is not defined.
    for tensor in tensors(make, distinct=True) if not make.is_bool else []:
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0, True)
    yield SampleInput(make())
    yield SampleInput(make(0, 3))
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(1, 1), -1, True)


@error_samples("sort")
def sort_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)


@error_samples("sort_stable")
def sort_stable_errors(make: Make) -> Iterator[ErrorInput]:
    for dim in (2, -3):
        yield ErrorInput(SampleInput(make(2, 3), stable=True, dim=dim), IndexError, str(dim))


@samples("sort_stable")
def sort_stable(make: Make) -> Iterator[SampleInput]:
    """Samples with ties, whose order is defined for stable sorts."""
    for sample in sort(make):
        yield SampleInput(*sample.positional[:1], stable=True)
    yield SampleInput(make(3, 5, distinct=True), stable=True, dim=0, descending=True)
    if not make.requires_grad:
        yield SampleInput(make.values([1, 0, 1, 1, 0, 1, 0, 0]), stable=True)
        yield SampleInput(make.values([1, 0, 1, 1, 0, 1, 0, 0]), stable=True, descending=True)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), stable=True)
        yield SampleInput(make.extremes(), stable=True, descending=True)


@samples("topk")
def topk(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 2)
        yield SampleInput(tensor, 1, 0, False)
        yield SampleInput(tensor, tensor.shape[0], 0, True, True)
    yield SampleInput(make(), 1)
    yield SampleInput(make(3, 4), 0)
    yield SampleInput(make(0, 3), 2, 1)


@error_samples("topk")
def topk_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 4), RuntimeError, "k|4")
    yield ErrorInput(SampleInput(make(3), -1), RuntimeError, "k|-1")
    yield ErrorInput(SampleInput(make(3), 1, 1), IndexError, "1")
