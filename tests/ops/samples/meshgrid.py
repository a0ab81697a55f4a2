"""Samples of grids, Cartesian products and combinations."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("cartesian_prod")
def cartesian_prod(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(3)])
    yield SampleInput([make(3), make(2)])
    yield SampleInput([make(2), make(2), make(1)])
    yield SampleInput([make(2), make(0)])


@error_samples("cartesian_prod")
def cartesian_prod_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2), make(2, 3)]), RuntimeError, r"1D vector.*\[2, 3\]")
    yield ErrorInput(SampleInput([]), RuntimeError, "empty")
    yield ErrorInput(SampleInput([make(2), make(2, dtype="float64")]), RuntimeError, "dtype")


@samples("combinations")
def combinations(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4))
    yield SampleInput(make(4), 3)
    yield SampleInput(make(3), 2, True)
    yield SampleInput(make(3), r=1, with_replacement=True)
    yield SampleInput(make(2), 4)
    yield SampleInput(make(2), 4, with_replacement=True)
    yield SampleInput(make(0), 2)
    if not make.requires_grad:  # nothing is taken
        yield SampleInput(make(3), 0)


@error_samples("combinations")
def combinations_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2)), RuntimeError, r"1D vector.*\[2, 2\]")
    yield ErrorInput(SampleInput(make(2), -1), RuntimeError, "-1")


@samples("meshgrid")
def meshgrid(make: Make) -> Iterator[SampleInput]:
    for indexing in ("ij", "xy"):
        yield SampleInput([make(2), make(3)], indexing=indexing)
        yield SampleInput([make(2), make(3), make(4)], indexing=indexing)
        yield SampleInput([make(2)], indexing=indexing)
    yield SampleInput([make(), make(3)], indexing="ij")


@error_samples("meshgrid")
def meshgrid_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2, 2), make(3)], indexing="ij"), RuntimeError, "2")
    yield ErrorInput(SampleInput([make(2), make(3)], indexing="zz"), RuntimeError, "zz|indexing")
