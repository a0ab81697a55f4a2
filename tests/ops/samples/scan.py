"""Samples of running sums, products and extrema."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import dim_errors, tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")
_INF = float("inf")


@samples("running_extremum")
def running_extremum(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1)
    if not make.requires_grad:
        yield SampleInput(make.values([1, 0, 1, 1, 0, 1, 0, 0]), 0)  # of equal elements the last one
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([1.0, 3.0, 2.0, _NAN, 5.0, _NAN]), 0)
        yield SampleInput(make.extremes().reshape(4, 4), 1)


@samples("logcumsumexp")
def logcumsumexp(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:
        return
    for tensor in tensors(make):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 0)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([-_INF, -_INF, 3.0, _INF, 2.0]), 0)
        yield SampleInput(make.values([1.0, _NAN, 2.0]), 0)
        yield SampleInput(make(20, low=-100.0, high=100.0), 0)


@error_samples("running_extremum", "logcumsumexp")
def running_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(), 1), IndexError, "1|scalar")


@samples("cumulative")
def cumulative(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, low=-1.2, high=1.2):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make.values([1, 0, 2, 0, 3]), 0)
    if make.is_floating:
        yield SampleInput(make(2, 3), 1, dtype=make.torch.float64)


@error_samples("cumulative")
def cumulative_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)
