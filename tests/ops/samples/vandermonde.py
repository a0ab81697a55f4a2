"""Samples of Vandermonde matrices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("linalg_vander")
def linalg_vander(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, low=0.5, high=2.0))
    yield SampleInput(make(2, 2, low=0.5, high=2.0), N=4)
    yield SampleInput(make(3, low=0.5, high=2.0), N=2)


@error_samples("linalg_vander")
def linalg_vander_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), N=1), RuntimeError, "greater than 1")


@samples("vandermonde")
def vandermonde(make: Make) -> Iterator[SampleInput]:
    for n in (None, 2, 5) if make.requires_grad else (None, 0, 1, 2, 5):  # the first column is constant
        yield SampleInput(make(3), n)
    yield SampleInput(make(3), increasing=True)
    yield SampleInput(make(4, layout="strided"), 3, True)
    yield SampleInput(make(0), 2)


@error_samples("vandermonde")
def vandermonde_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2)), RuntimeError, "one-dim")
    yield ErrorInput(SampleInput(make(2), -1), RuntimeError, "N")
