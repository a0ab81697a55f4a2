"""The empty generator of private operators, which the operators that call them test."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples


@samples("skip_private")
def skip_private(make: Make) -> Iterator[SampleInput]:
    yield from ()
