"""Samples of nonzero and count_nonzero."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import dim_errors, tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("nonzero")
def nonzero(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make.values([[1, 0, 2], [0, 0, 1]]))
    yield SampleInput(make.values([0, 0]))
    yield SampleInput(make(0, 3))
    yield SampleInput(make.values(1))
    yield SampleInput(make.values(0))
    yield SampleInput(make(3, 4, layout="transposed"))


@samples("count_nonzero")
def count_nonzero(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make())
    yield SampleInput(make(0, 3), 0)
    if not make.requires_grad:
        yield SampleInput(make.values([[1, 0, 0], [1, 1, 0]]), 1)


@error_samples("count_nonzero")
def count_nonzero_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")


@samples("nonzero_static")
def nonzero_static(make: Make) -> Iterator[SampleInput]:
    values = make.values([[1, 0, 1], [0, 0, 1]])
    for size in (0, 2, 3, 5):
        yield SampleInput(values, size=size)
    yield SampleInput(values, size=5, fill_value=7)
    yield SampleInput(make.values(1), size=2)


@error_samples("nonzero_static")
def nonzero_static_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), size=-1), RuntimeError, "negative")


@samples("count_nonzero_dim")
def count_nonzero_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, [0])
        yield SampleInput(tensor, [-1])
    yield SampleInput(make.values([[1, 0, 0], [1, 1, 0]]), [0, 1])
    yield SampleInput(make.values([[1, 0, 0], [1, 1, 0]]), [1])


@error_samples("count_nonzero_dim")
def count_nonzero_dim_errors(make: Make) -> Iterator[ErrorInput]:
    for error in dim_errors(make):
        tensor, dim = error.sample.positional
        yield ErrorInput(SampleInput(tensor, [dim]), error.error, error.message)
