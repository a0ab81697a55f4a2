"""Samples of im2col and col2im."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("im2col")
def im2col(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 4, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    yield SampleInput(make(2, 5, 4), (2, 3), (2, 1), (1, 0), (2, 1))
    if not make.requires_grad:
        yield SampleInput(make(0, 2, 4, 3), (2, 2), (1, 1), (0, 0), (1, 1))
        yield SampleInput(make(2, 3, 6, 5, layout="channels_last"), (3, 3), (1, 1), (1, 1), (2, 2))


@samples("col2im")
def col2im(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 8, 6), (4, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    yield SampleInput(make(6, 6), (5, 4), (2, 3), (2, 1), (1, 0), (2, 1))
    if not make.requires_grad:
        yield SampleInput(make(2, 9, 9, layout="transposed"), (6, 5), (3, 3), (1, 1), (1, 1), (2, 2))


@error_samples("im2col")
def im2col_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 3, 3), (4, 4), (1, 1), (0, 0), (1, 1)), RuntimeError, "too small")
    yield ErrorInput(SampleInput(make(3, 3), (2, 2), (1, 1), (0, 0), (1, 1)), RuntimeError, "3D|4D")
    yield ErrorInput(SampleInput(make(1, 2, 3, 3), (2, 2), (1, 1), (0, 0), (0, 1)), RuntimeError, "stride")


@error_samples("col2im")
def col2im_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(1, 7, 6), (4, 3), (2, 2), (1, 1), (0, 0), (1, 1)), RuntimeError, "divisible"
    )
    yield ErrorInput(
        SampleInput(make(1, 8, 5), (4, 3), (2, 2), (1, 1), (0, 0), (1, 1)), RuntimeError, "match|blocks"
    )
