"""Samples of integrals by the trapezoidal rule."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("trapezoid_x")
def trapezoid_x(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return
    for tensor in tensors(make):
        yield SampleInput(tensor, make(tensor.shape[-1]))
        yield SampleInput(tensor, make(tensor.shape[0]), dim=0)
        yield SampleInput(tensor, make(*tensor.shape), dim=-1)
    yield SampleInput(make(1), make(1))
    if make.is_inexact and not make.requires_grad:
        yield SampleInput(make(0, 2), make(0), dim=0)


@error_samples("trapezoid_x")
def trapezoid_x_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(2)), RuntimeError, "one `x` value")
    yield ErrorInput(SampleInput(make(3), make(3, dtype="bool")), RuntimeError, "bool")
    yield ErrorInput(SampleInput(make(3), make(3), dim=1), IndexError, "1")


@samples("trapezoid_dx")
def trapezoid_dx(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, dx=0.5)
        yield SampleInput(tensor, dx=3, dim=0)
    yield SampleInput(make(1))


@error_samples("trapezoid_dx")
def trapezoid_dx_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, dtype="bool")), RuntimeError, "bool")
    yield ErrorInput(SampleInput(make(3), dim=1), IndexError, "1")
