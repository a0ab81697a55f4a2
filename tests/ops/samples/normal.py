"""Samples of normally distributed numbers with given means and deviations."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("normal_tensor_float")
def normal_tensor_float(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(make(3, 4), 2.0)
        yield SampleInput(make(0))


@samples("normal_float_tensor")
def normal_float_tensor(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(1.0, make(3, 4, low=0.5, high=2.0))


@samples("normal_tensor_tensor")
def normal_tensor_tensor(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(make(3, 4), make(3, 4, low=0.5, high=2.0))
        yield SampleInput(make(3, 1), make(4, low=0.5, high=2.0))


@error_samples("normal_tensor_tensor")
def normal_tensor_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make.values([-1.0, 1.0, 1.0])), RuntimeError, "std")


@samples("normal_float")
def normal_float(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(0.0, 1.0, (2, 3))
    if make.is_floating:
        yield SampleInput(1.0, 2.0, (4,), dtype=make.dtype)


@error_samples("normal_float")
def normal_float_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0.0, -1.0, (2,)), RuntimeError, "std|-1")
