"""Samples of pixel and channel shuffles."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("pixel_shuffle")
def pixel_shuffle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 4, 2, 3), 2)
    yield SampleInput(make(9, 1, 2), 3)
    yield SampleInput(make(2, 1, 4, 2, 2), 1)
    if not make.requires_grad:
        yield SampleInput(make(2, 8, 3, 2, layout="channels_last"), 2)
        yield SampleInput(make(0, 4, 3, 2), 2)


@samples("pixel_unshuffle")
def pixel_unshuffle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 1, 4, 6), 2)
    yield SampleInput(make(2, 3, 3), 3)
    if not make.requires_grad:
        yield SampleInput(make(2, 2, 4, 6, layout="channels_last"), 2)


@samples("channel_shuffle")
def channel_shuffle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 6, 2, 2), 3)
    yield SampleInput(make(2, 4, 3), 2)
    if not make.requires_grad:
        yield SampleInput(make(2, 6, 4, 3, layout="channels_last"), 2)


@error_samples("pixel_shuffle")
def pixel_shuffle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 6, 2, 2), 2), RuntimeError, "divisible")
    yield ErrorInput(SampleInput(make(4, 4), 2), RuntimeError, "3 dim")
    yield ErrorInput(SampleInput(make(1, 4, 2, 2), 0), RuntimeError, "positive")


@error_samples("pixel_unshuffle")
def pixel_unshuffle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 1, 3, 4), 2), RuntimeError, "height")
    yield ErrorInput(SampleInput(make(1, 1, 4, 3), 2), RuntimeError, "width")


@error_samples("channel_shuffle")
def channel_shuffle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 5, 2), 2), RuntimeError, "divisible")
    yield ErrorInput(SampleInput(make(4, 2), 2), RuntimeError, "2 dim")
