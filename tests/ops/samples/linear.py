"""Samples of linear and bilinear."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import plain
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("linear")
def linear(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(4, 3), make(4))
    yield SampleInput(make(2, 3), make(4, 3))
    yield SampleInput(make(3), make(2, 3), make(2))
    yield SampleInput(make(2, 2, 3), make(4, 3), make(4))
    yield SampleInput(
        make(2, 3, layout="transposed"), make(4, 3, layout="transposed"), make(4, layout="strided")
    )
    yield SampleInput(make(0, 3), make(4, 3), make(4))


@error_samples("linear")
def linear_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(4, 2)), RuntimeError, "2x3|3.*2")
    yield ErrorInput(SampleInput(make(2, 3), make(4, 3), make(3)), RuntimeError, "3.*4|4.*3|bias|expand")


@samples("bilinear")
def bilinear(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 2, 3), plain(make, 2, 2), plain(make, 2, 3, 2), plain(make, 2))
    yield SampleInput(plain(make, 2, 2, 1), plain(make, 2, 2, 2), plain(make, 3, 1, 2))
    yield SampleInput(plain(make, 2), plain(make, 2), plain(make, 1, 2, 2), plain(make, 1))
    yield SampleInput(make(0, 2), make(0, 2), plain(make, 3, 2, 2))


@error_samples("bilinear")
def bilinear_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2), make(2, 2, 2)), RuntimeError, "got 3 but expected 2")
    yield ErrorInput(SampleInput(make(2, 3), make(3, 2), make(2, 3, 2)), RuntimeError, "batch")
