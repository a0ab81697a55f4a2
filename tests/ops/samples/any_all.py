"""Samples of any and all."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import over_all, over_dims, over_nothing
from tests.ops.samples.registry import SampleInput, samples


@samples("reduction_bool")
def reduction_bool(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    yield from over_all(make)
    yield from over_nothing(make)
    yield SampleInput(make.values([[1, 1, 0], [1, 1, 1], [0, 0, 0]]), 1)
