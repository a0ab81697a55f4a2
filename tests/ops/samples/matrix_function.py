"""Samples of the matrix exponential and matrix powers."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import plain, regular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("matrix_exp")
def matrix_exp(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(plain(make, 3, 3))
    yield SampleInput(plain(make, 2, 2, 2, transposed=True))
    yield SampleInput(plain(make, 1, 1))
    yield SampleInput(make(0, 0))
    if not make.requires_grad:
        yield SampleInput(make.values([[1.0, 20.0], [0.0, -1.0]]))
        yield SampleInput(make(2, 0, 0))
        yield SampleInput(make.values([[[0.0, 0.0], [0.0, 0.0]], [[0.0, 9.0], [-9.0, 0.0]]]))


@error_samples("matrix_power")
def matrix_power_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3), 2), RuntimeError, "2 dimensions")


@error_samples("matrix_exp")
def matrix_exp_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")


@samples("matrix_power")
def matrix_power(make: Make) -> Iterator[SampleInput]:
    for exponent in (1, 2, 3, 5) if make.requires_grad else (0, 1, 2, 3, 5):
        yield SampleInput(plain(make, 2, 2), exponent)
    yield SampleInput(plain(make, 2, 2, 2), 4)
    if make.is_inexact:
        yield SampleInput(regular(make, 2, 2), -1)
        yield SampleInput(regular(make, 2, 2), -3)
    yield SampleInput(make(0, 0), 2)
