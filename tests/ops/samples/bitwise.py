"""Samples of bitwise operators and shifts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.binary import pairs
from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples
from tests.ops.samples.unary import unary_samples


@samples("binary_integer")
def binary_integer(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make):
        yield SampleInput(*pair)
    for dtype in () if make.requires_grad else ("int32", "uint8", "bool"):
        yield SampleInput(make(2, 3), make(2, 3, dtype=dtype))
    yield SampleInput(make(2, 3), 5)
    yield SampleInput(make(2, 3), True)


@samples("binary_shift")
def binary_shift(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make, {"low": 0.0, "high": 2.0}):
        yield SampleInput(*pair)
    yield SampleInput(make(2, 3), 2)


@samples("unary_integer")
def unary_integer(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, extremes=False)
