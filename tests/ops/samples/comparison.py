"""Samples of comparisons."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.binary import binary_samples, pairs, with_numbers
from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples


@samples("binary_compare")
def binary_compare(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make)
    yield from with_numbers(make)
    yield SampleInput(make.values([0, 1, 1, 0]), make.values([1, 1, 0, 0]))
    yield SampleInput(make.values([0, 1, 2, 3]), 2)


@samples("binary_same")
def binary_same(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make):
        yield SampleInput(*pair)
        yield SampleInput(pair[0], pair[0])
    if make.is_floating:
        nan = make.values([1.0, float("nan"), float("inf")])
        yield SampleInput(nan, nan)
        yield SampleInput(nan, nan, equal_nan=True)
        near = make.values([1.0, 2.0, 3.0])
        yield SampleInput(near, make.values([1.05, 2.0, 3.2]), rtol=0.1, atol=0.0)
        yield SampleInput(near, make.values([1.05, 2.0, 3.2]), rtol=0.0, atol=0.1)
