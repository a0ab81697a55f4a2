"""Samples of reshape, flatten and unflatten."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.dimensions import dimension_errors, matrices
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("view_as")
def view_as(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 6), make(3, 4, requires_grad=False))
    yield SampleInput(make(1), make(requires_grad=False))


@error_samples("view_as")
def view_as_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(4)), RuntimeError, "4")


@samples("flatten")
def flatten(make: Make) -> Iterator[SampleInput]:
    for tensor in (*matrices(make), make(), make(2, 3, 2)):
        yield SampleInput(tensor)
    yield SampleInput(make(2, 3, 2), 1)
    yield SampleInput(make(2, 3, 2, 2), 1, -2)
    yield SampleInput(make(2, 3, 2), 2, 2)


@error_samples("flatten")
def flatten_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dimension_errors(make)
    yield ErrorInput(SampleInput(make(2, 3), 1, 0), RuntimeError, "start_dim")


@samples("unflatten")
def unflatten(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(6, 2), 0, (2, 3))
    yield SampleInput(make(2, 6), -1, (3, -1))
    yield SampleInput(make(2, 6, layout="transposed"), 1, (2, 3))


@error_samples("unflatten")
def unflatten_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(6), 0, (4, 2)), RuntimeError, "4, 2|6")
    yield from dimension_errors(make, after=((1, -1),))
