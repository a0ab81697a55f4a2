"""Samples of inverse hyperbolic functions of numbers above one."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples
from tests.ops.samples.unary import unary_samples


@samples("unary_above_one")
def unary_above_one(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=1.2, high=4.0)
