"""Samples of flips, rolls and rotations."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("rot90")
def rot90(make: Make) -> Iterator[SampleInput]:
    for k in (-1, 0, 1, 2, 3, 5):
        yield SampleInput(make(2, 3), k)
    yield SampleInput(make(2, 3, 2), 1, (1, -1))
    yield SampleInput(make(3, 4, layout="transposed"), 1, (1, 0))
    yield SampleInput(make(2, 3, 2, layout="transposed"), 3, (0, 2))


@error_samples("rot90")
def rot90_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 1, (0,)), RuntimeError, "1")
    yield ErrorInput(SampleInput(make(2, 3), 1, (0, 0)), RuntimeError, "different")
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "2")
    yield ErrorInput(SampleInput(make(2, 3), 1, (0, 2)), IndexError, "2")


@samples("flip_named")
def flip_named(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3, 2))
    yield SampleInput(make(2, 3, 2, 2, layout="channels_last"))
    yield SampleInput(make(0, 3))
    for tensor in make.layouts(3, 4):
        yield SampleInput(tensor)


@error_samples("flip_named")
def flip_named_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make()), RuntimeError, "Input must be")


@samples("flip")
def flip(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, (0,))
        yield SampleInput(tensor, (-1, 0))
    yield SampleInput(make(2, 3), ())
    yield SampleInput(make(0, 3), (1,))
    yield SampleInput(make(2, 41), (1,))


@error_samples("flip")
def flip_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (0, 0)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3), (2,)), IndexError, "2")


@samples("roll")
def roll(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5), 2, 0)
    yield SampleInput(make(3, 4), (1, -2), (0, 1))
    yield SampleInput(make(3, 4), 5)
    yield SampleInput(make(3, 4, layout="transposed"), -1, -1)
    yield SampleInput(make(0), 1, 0)
    yield SampleInput(make(3, 4), 7, 1)
    yield SampleInput(make(3, 4), 7, None)


@error_samples("roll")
def roll_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), (1, 2), (0,)), RuntimeError, "shifts|dims")
    yield ErrorInput(SampleInput(make(3), 1, 1), IndexError, "1")
