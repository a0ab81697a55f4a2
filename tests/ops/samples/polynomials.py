"""Samples of orthogonal polynomials."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples


@samples("polynomial")
def polynomial(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0,)):
        yield SampleInput(make(*shape, low=-1.5, high=1.5), make.integers(*shape, low=-1, high=7))
    yield SampleInput(make(2, 1, low=-1.5, high=1.5), make.integers(3, high=4))
    yield SampleInput(make(2, 3, low=-1.5, high=1.5), 4)
    yield SampleInput(0.75, make.integers(5, high=9))
