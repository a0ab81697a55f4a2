"""Samples of copies in which one part is replaced: slice_scatter, select_scatter and others."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("select_scatter")
def select_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(4), 0, 1)
    yield SampleInput(make(3, 4, layout="transposed"), make(3), 1, -1)
    yield SampleInput(make(3), make(), 0, 2)


@error_samples("select_scatter")
def select_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), make(3), 0, 1), RuntimeError, r"\[3\].*\[4\]")
    yield ErrorInput(SampleInput(make(3, 4), make(4), 0, 3), IndexError, "3")


@samples("slice_scatter")
def slice_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, 3), make(2, 3), 0, 1, 3)
    yield SampleInput(make(4, 3), make(2, 3), 0, None, None, 2)
    yield SampleInput(make(3, 4, layout="transposed"), make(3, 2), -1, -2)
    yield SampleInput(make(3, 4, layout="strided"), make(3, 4), 1)
    yield SampleInput(make(3), make(0), 0, 3)


@error_samples("slice_scatter")
def slice_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 3), make(1, 3), 0, 0, 2), RuntimeError, r"\[1, 3\].*\[2, 3\]")
    yield ErrorInput(SampleInput(make(4), make(4), 1), IndexError, "1")


@samples("diagonal_scatter")
def diagonal_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(3))
    yield SampleInput(make(3, 4), make(3), 1)
    yield SampleInput(make(2, 3, 4, layout="transposed"), make(3, 2), 0, 0, 2)


@error_samples("diagonal_scatter")
def diagonal_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), make(2)), RuntimeError, r"\[2\].*\[3\]")


@samples("as_strided_scatter")
def as_strided_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(12), make(2, 2), (2, 2), (4, 1))
    yield SampleInput(make(12), make(3), (3,), (2,), 5)
    yield SampleInput(make(3, 4, layout="transposed"), make(2, 2), (2, 2), (1, 3), 1)


@error_samples("as_strided_scatter")
def as_strided_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), make(3), (2,), (1,)), RuntimeError, r"\[3\].*\[2\]")
    yield ErrorInput(SampleInput(make(4), make(3), (3,), (2,)), RuntimeError, "bounds|storage")


@samples("slice_inverse")
def slice_inverse(make: Make) -> Iterator[SampleInput]:
    whole = make(4, 3, requires_grad=False)
    yield SampleInput(make(4, 3), whole)
    if not make.requires_grad:
        yield SampleInput(whole[:2], whole, 0, None, 2)
        yield SampleInput(whole[:, ::2], whole, 1, None, None, 2)
