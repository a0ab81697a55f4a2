"""Samples of diagonals: read, written and made into matrices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.dimensions import matrices
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("trace")
def trace(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 3))
    yield SampleInput(make(2, 4, layout="transposed"))
    yield SampleInput(make(0, 3))


@error_samples("trace")
def trace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "expected a matrix.*dim 1")


@samples("linalg_diagonal")
def linalg_diagonal(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3, 4), offset=1)
    yield SampleInput(make(2, 3, 2), offset=-1, dim1=0, dim2=1)


@samples("diagflat")
def diagflat(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(), make(3), make(2, 2), make(2, 3, layout="transposed"), make(0)):
        yield SampleInput(tensor)
    yield SampleInput(make(2), 1)
    yield SampleInput(make(2), -2)


@samples("fill_diagonal_")
def fill_diagonal_(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(4, 3, layout="transposed"), make(3, 3, 3), make(0, 3)):
        yield SampleInput(tensor, 1)
    for wrap in (False, True):
        yield SampleInput(make(7, 2), 1, wrap)
        yield SampleInput(make(2, 5), 0, wrap=wrap)


@error_samples("fill_diagonal_")
def fill_diagonal_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 1), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3, 3), 1), RuntimeError, "equal")


@samples("diag")
def diag(make: Make) -> Iterator[SampleInput]:
    for diagonal in (0, 1, -1):
        yield SampleInput(make(3), diagonal)
        yield SampleInput(make(3, 4), diagonal)
    yield SampleInput(make(3, 3, layout="transposed"))


@error_samples("diag")
def diag_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 2)), RuntimeError, "3")
    yield ErrorInput(SampleInput(make()), RuntimeError, "0|dim")


@samples("diag_embed")
def diag_embed(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3))
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3), 1)
    yield SampleInput(make(2, 3), -1, 0, 2)


@error_samples("diag_embed")
def diag_embed_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, 1, 1), RuntimeError, "1")
    yield ErrorInput(SampleInput(make(3), 0, 0, 2), IndexError, "2")


@samples("diagonal")
def diagonal(make: Make) -> Iterator[SampleInput]:
    for tensor in matrices(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 1)
        yield SampleInput(tensor, -2)
    yield SampleInput(make(2, 3, 4), 0, 0, 2)
    yield SampleInput(make(2, 3, 4), 1, -1, 1)
    yield SampleInput(make(3, 4), 7)


@error_samples("diagonal")
def diagonal_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 0, 0, 0), RuntimeError, "dimension")
    yield ErrorInput(SampleInput(make(3)), IndexError, "1")
