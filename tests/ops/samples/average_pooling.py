"""Samples of average pooling."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.pooling import EXTENTS, adaptive, pooled
from tests.ops.samples.registry import SampleInput, samples


@samples("avg_pool1d", 1)
@samples("avg_pool2d", 2)
@samples("avg_pool3d", 3)
def _averaged(make: Make, rank: int) -> Iterator[SampleInput]:
    yield from pooled(make, rank)
    sizes = EXTENTS[rank]
    yield SampleInput(make(1, 1, *(size + 1 for size in sizes)), 2, 2, 1, True)
    yield SampleInput(make(1, 1, *sizes), 3, 2, 1, False, False)
    yield SampleInput(make(1, 1, *sizes), 3, 2, 1, True, False)
    if rank > 1:
        yield SampleInput(make(1, 1, *sizes), 2, 2, 0, False, True, 3)
        yield SampleInput(make(1, 1, *sizes), 2, 1, 1, True, False, -2)


@samples("adaptive_avg_pool1d")
def adaptive_avg_pool1d(make: Make) -> Iterator[SampleInput]:
    yield from adaptive(make, 1)


@samples("adaptive_avg_pool2d")
def adaptive_avg_pool2d(make: Make) -> Iterator[SampleInput]:
    yield from adaptive(make, 2)


@samples("adaptive_avg_pool3d")
def adaptive_avg_pool3d(make: Make) -> Iterator[SampleInput]:
    yield from adaptive(make, 3)
