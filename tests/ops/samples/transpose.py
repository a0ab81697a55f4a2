"""Samples of permuted dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.dimensions import dimension_errors, matrices
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("adjoint")
def adjoint(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3, 4, layout="transposed"))
    yield SampleInput(make(0, 3))


@error_samples("adjoint")
def adjoint_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "1-D")


@samples("transpose")
def transpose(make: Make) -> Iterator[SampleInput]:
    for tensor in matrices(make):
        yield SampleInput(tensor, 0, 1)
        yield SampleInput(tensor, -1, 0)
    yield SampleInput(make(2, 3, 2), 0, 2)
    yield SampleInput(make(2, 3, 2), 1, 1)
    yield SampleInput(make(), 0, -1)


@error_samples("transpose")
def transpose_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dimension_errors(make, 0)
    yield from dimension_errors(make, after=(0,))


@samples("t")
def t(make: Make) -> Iterator[SampleInput]:
    for tensor in (*matrices(make), make(), make(3)):
        yield SampleInput(tensor)


@error_samples("t")
def t_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3, 4)), RuntimeError, "3")


@samples("permute")
def permute(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 4), (2, 0, 1))
    yield SampleInput(make(2, 3, 4), (0, -1, 1))
    yield SampleInput(make(2, 3), (0, 1))
    yield SampleInput(make(), ())
    yield SampleInput(make(2, 0), (1, 0))


@error_samples("permute")
def permute_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (0,)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3), (0, 0)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3), (0, 2)), IndexError, "2")


@samples("movedim")
def movedim(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 4), (0, 1), (2, 0))
    yield SampleInput(make(2, 3, 4), (-1,), (0,))
    yield SampleInput(make(2, 3), (), ())


@error_samples("movedim")
def movedim_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (0, 1), (0,)), RuntimeError, "source|destination")
    yield ErrorInput(SampleInput(make(2, 3), (0, 0), (0, 1)), RuntimeError, "source|repeated|dim 0")
    yield ErrorInput(SampleInput(make(2, 3), (2,), (0,)), IndexError, "2")


@samples("movedim_int")
def movedim_int(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 4), 0, 2)
    yield SampleInput(make(2, 3, 4), -1, 0)


@error_samples("movedim_int")
def movedim_int_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dimension_errors(make, 0)
