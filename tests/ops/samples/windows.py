"""Samples of window functions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("window")
def window(make: Make) -> Iterator[SampleInput]:
    for length in (0, 1, 2, 5, 8):
        yield SampleInput(length)
    yield SampleInput(6, dtype=make.torch.float64)


@samples("window_periodic")
def window_periodic(make: Make) -> Iterator[SampleInput]:
    for length in (0, 1, 2, 5, 8):
        for periodic in (False, True):
            yield SampleInput(length, periodic)


@samples("window_alpha")
def window_alpha(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(5, True, 0.6)
    yield SampleInput(5, False, 0.6)


@samples("window_alpha_beta")
def window_alpha_beta(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(5, True, 0.6, 0.3)


@samples("window_kaiser")
def window_kaiser(make: Make) -> Iterator[SampleInput]:
    for length in (0, 1, 2, 5, 8):
        for beta in (0.0, 3.5, 14.0):
            yield SampleInput(length, True, beta)
    yield SampleInput(7, False, -4.0, dtype=make.torch.float64)


@error_samples("window_kaiser")
def window_kaiser_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1, True, 3.0), RuntimeError, "non-negative")
    yield ErrorInput(SampleInput(3, True, 3.0, dtype=make.torch.int64), RuntimeError, "floating point")


@error_samples("window")
def window_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1), RuntimeError, "non-negative")
    yield ErrorInput(SampleInput(3, dtype=make.torch.int64), RuntimeError, "floating point")
