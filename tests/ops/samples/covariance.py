"""Samples of covariances and correlations."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("cov")
def cov(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return

    yield SampleInput(make(3, 5))
    yield SampleInput(make(6))
    yield SampleInput(make(2, 4, layout="transposed"), correction=0)
    yield SampleInput(make(3, 4), fweights=make.tensor([1, 2, 0, 3], "int64"))
    weights = make.tensor(
        [0.5, 1.0, 2.0, 0.25], make.dtype_name if make.dtype_name == "float64" else "float32"
    )

    yield SampleInput(make(3, 4), aweights=weights)
    yield SampleInput(make(3, 4), aweights=weights, fweights=make.tensor([1, 2, 1, 3], "int64"), correction=2)
    yield SampleInput(make(3, 4), aweights=weights, correction=0)

    if not make.requires_grad:
        # The infinite quotient of an imaginary part that is zero but for rounding has either sign.
        if not make.is_complex:
            yield SampleInput(make(2, 3), correction=3)
        yield SampleInput(make())
        yield SampleInput(make(2, 0))


@error_samples("cov")
def cov_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 2)), RuntimeError, "3 dimensions")
    yield ErrorInput(SampleInput(make(2, dtype="bool")), RuntimeError, "bool")
    yield ErrorInput(SampleInput(make(2, 3), fweights=make(3)), RuntimeError, "fweights.*integral")
    yield ErrorInput(
        SampleInput(make(2, 3), aweights=make.integers(3, high=3)), RuntimeError, "aweights.*floating"
    )
    yield ErrorInput(SampleInput(make(2, 3), aweights=make(2)), RuntimeError, "2 != 3")
    yield ErrorInput(
        SampleInput(make(2, 3), fweights=make.tensor([1, -1, 2], "int64")), RuntimeError, "negative"
    )
    yield ErrorInput(SampleInput(make(2, 3), aweights=make.values([0, 0, 0])), RuntimeError, "zero")


@samples("corrcoef")
def corrcoef(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return
    yield SampleInput(make(3, 5))
    yield SampleInput(make(2, 6, layout="transposed"))
    if not make.requires_grad:
        yield SampleInput(make(6))
        yield SampleInput(make())


@error_samples("corrcoef")
def corrcoef_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 2)), RuntimeError, "3 dimensions")
