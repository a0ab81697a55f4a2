"""Samples of the L D L^T factorization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import array, hermitian, pivots, plain, regular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def symmetric(make: Make, *shape: int) -> Any:
    """Matrices that are indefinite and, if complex, symmetric but not Hermitian.

    The small diagonal makes 2 x 2 pivots.
    """
    values = array(make, *shape)
    values = values + np.swapaxes(values, -1, -2)
    values[..., range(shape[-1]), range(shape[-1])] *= 0.05
    return make.values(values)


@samples("ldl_factor_ex")
def ldl_factor_ex(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(symmetric(make, 3, 3))
    yield SampleInput(hermitian(make, 4, 4), hermitian=True)
    yield SampleInput(symmetric(make, 2, 5, 5), check_errors=True)
    yield SampleInput(regular(make, 3, 3, transposed=True))
    yield SampleInput(make(0, 0))
    yield SampleInput(make(2, 0, 0))


@samples("ldl_factor")
def ldl_factor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(symmetric(make, 3, 3))
    yield SampleInput(hermitian(make, 2, 2, 2), hermitian=True)
    yield SampleInput(make(0, 0))


@error_samples("ldl_factor_ex", "ldl_factor")
def ldl_factor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")


@samples("ldl_solve")
def ldl_solve(make: Make) -> Iterator[SampleInput]:
    def factors(*shape: int) -> Any:
        return regular(make, *shape).detach()

    yield SampleInput(factors(3, 3), pivots(make, [1, 3, 3]), plain(make, 3, 2))
    yield SampleInput(factors(3, 3).transpose(-2, -1), pivots(make, [-2, -2, 3]), plain(make, 3, 1))
    yield SampleInput(hermitian(make, 2, 2).detach(), pivots(make, [1, 2]), plain(make, 2, 2), hermitian=True)
    yield SampleInput(factors(2, 2, 2), pivots(make, [1, 2], [-2, -2]), plain(make, 2, 2, 1))
    yield SampleInput(factors(2, 2), pivots(make, [2, 2]), plain(make, 3, 2, 1))
    yield SampleInput(make(0, 0).detach(), pivots(make, []), make(0, 2))


@error_samples("ldl_solve")
def ldl_solve_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(3, 3), pivots(make, [1, 2, 3]), make(2, 2)), RuntimeError, "3 by 3.*2 by 2"
    )
    yield ErrorInput(SampleInput(make(3, 2), pivots(make, [1, 2]), make(3, 2)), RuntimeError, "square")
    yield ErrorInput(SampleInput(make(3, 3), pivots(make, [1, 2]), make(3, 2)), RuntimeError, "pivots")
