"""Samples of extrema and their positions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import dim_errors, dims_errors, extremes, over_all, over_dims, tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")
_INF = float("inf")


@samples("aminmax")
def aminmax(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor)
        yield SampleInput(tensor, dim=0)
        yield SampleInput(tensor, dim=-1, keepdim=True)
    yield SampleInput(make(), keepdim=True)
    yield SampleInput(make(), dim=0)
    yield SampleInput(make(0, 3), dim=1)
    yield SampleInput(make(2, 3, distinct=True), keepdim=True)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([[1.0, _NAN], [_INF, -_INF]]), dim=1)


@error_samples("aminmax")
def aminmax_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "empty")
    yield ErrorInput(SampleInput(make(0, 3), dim=0), IndexError, "non-zero")
    yield ErrorInput(SampleInput(make(2), dim=1), IndexError, "1")


@samples("reduction_all_real")
def reduction_all_real(make: Make) -> Iterator[SampleInput]:
    yield from over_all(make, distinct=True)
    yield from extremes(make)


@error_samples("reduction_all_real")
def reduction_all_real_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "dim|empty|numel")


@samples("reduction_nonempty")
def reduction_nonempty(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make, distinct=True)
    yield from over_all(make, distinct=True)
    yield from extremes(make, 0)
    yield from extremes(make)
    yield SampleInput(make(0, 3), 1)
    yield SampleInput(make(2, 3, distinct=True), None)
    if not make.requires_grad:
        yield SampleInput(make.values([[1, 1, 0], [0, 0, 0]]), 1)


@error_samples("reduction_nonempty")
def reduction_nonempty_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dims_errors(make)
    yield ErrorInput(SampleInput(make(0, 3), 0), IndexError, "dim")
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "dim")


@samples("reduction_dim_values")
def reduction_dim_values(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, True)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield from extremes(make, 0)
    yield SampleInput(make(2, 3, 2, distinct=True), dim=1, keepdim=True)


@samples("argmax")
def argmax(make: Make) -> Iterator[SampleInput]:
    yield from over_all(make, distinct=True)
    yield from reduction_dim_values(make)
    yield SampleInput(make(2, 3, distinct=True), None, True)
    if not make.requires_grad:
        yield SampleInput(make.values([1, 3, 3, 1]))


@error_samples("argmax")
def argmax_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)
    yield ErrorInput(SampleInput(make(0)), IndexError, "dim|reduc")
    yield ErrorInput(SampleInput(make(2, dtype="bool")), RuntimeError, "[Bb]ool")
    yield ErrorInput(SampleInput(make(2, dtype="complex64")), RuntimeError, "[Cc]omplex")
    yield ErrorInput(SampleInput(make(0, 3), 0), IndexError, "dim|reduc")
