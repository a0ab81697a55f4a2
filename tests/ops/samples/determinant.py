"""Samples for determinants and their logarithms."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import hermitian, plain, regular, singular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("det")
def det(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 2, 2, 2, transposed=True))
    yield SampleInput(plain(make, 1, 1))
    yield SampleInput(make(0, 0))
    # A singular matrix: its second row is twice the first.
    yield SampleInput(make.values([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, -1.0, 0.5]]))
    if not make.requires_grad:
        yield SampleInput(plain(make, 2, 5, 5))
        yield SampleInput(make(2, 0, 0))


@error_samples("det", "slogdet")
def det_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square matrices, but they are 2 by 3")
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "at least 2 dimensions")


@samples("slogdet")
def slogdet(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 2, 2, 2))
    yield SampleInput(make(0, 0))
    if not make.requires_grad:
        yield SampleInput(regular(make, 3, 3, scale=-1.0))
        yield SampleInput(singular(make))


@samples("logdet")
def logdet(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(hermitian(make, 3, 3))
    yield SampleInput(hermitian(make, 2, 2, 2))
    if not make.requires_grad:
        yield SampleInput(regular(make, 3, 3, scale=-1.0))
        yield SampleInput(make(0, 0))
