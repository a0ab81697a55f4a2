"""Sums and means without nan, extrema together, covariances, renorm, running extrema."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reduction import tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN, _INF = float("nan"), float("inf")


def _nan_reduction(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, [-1], True)
        yield SampleInput(tensor, list(range(tensor.dim())), keepdim=True)
    yield SampleInput(make())
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([[1.0, _NAN, 3.0], [_NAN, _NAN, _NAN], [_INF, 1.0, -_INF]]), 1)
        yield SampleInput(make.values([[1.0, _NAN, 3.0], [_NAN, 2.0, _NAN]]))
        yield SampleInput(make.values([[1.0, _NAN, 3.0], [_NAN, 2.0, _NAN]]), (0, 1), True)


@samples("nan_reduction_dtype")
def nan_reduction_dtype(make: Make) -> Iterator[SampleInput]:
    if make.is_complex:
        return
    yield from _nan_reduction(make)
    yield SampleInput(make(2, 3), 0, dtype=make.torch.float64)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([1.0, 2.0, 3.5]), dtype=make.torch.int64)
    if make.is_floating:
        yield SampleInput(make.values([1.0, 0.0, 3.0]), 0)


@samples("nan_reduction_float")
def nan_reduction_float(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield from _nan_reduction(make)
        yield SampleInput(make(2, 3), 0, dtype=make.torch.float64)


@error_samples("nan_reduction_dtype", "nan_reduction_float")
def nan_reduction_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(2, 3), [0, 0]), RuntimeError, "dim 0")


@samples("aminmax")
def aminmax(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor)
        yield SampleInput(tensor, dim=0)
        yield SampleInput(tensor, dim=-1, keepdim=True)
    yield SampleInput(make(), keepdim=True)
    yield SampleInput(make(), dim=0)
    yield SampleInput(make(0, 3), dim=1)
    yield SampleInput(make(2, 3, distinct=True), keepdim=True)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([[1.0, _NAN], [_INF, -_INF]]), dim=1)


@error_samples("aminmax")
def aminmax_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "empty")
    yield ErrorInput(SampleInput(make(0, 3), dim=0), IndexError, "non-zero")
    yield ErrorInput(SampleInput(make(2), dim=1), IndexError, "1")


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
        if (
            not make.is_complex
        ):  # of imaginary parts that are zero but for rounding, the infinite quotient has any sign
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


@samples("renorm")
def renorm(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:
        return
    for p in (2, 1, 0.5, 3):
        yield SampleInput(make(3, 4, away_from=(0,)), p, 0, 1.5)
    yield SampleInput(make(2, 3, 2, away_from=(0,)), 2, 1, 0.5)
    yield SampleInput(make(2, 3, layout="transposed", away_from=(0,)), 2, -1, 1)
    yield SampleInput(make(2, 3, away_from=(0,)), 2, 0, 100.0)
    yield SampleInput(make(0, 3), 2, 0, 1)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), _INF, 0, 0.5)
        yield SampleInput(make(2, 3), 2, 0, 0)


@error_samples("renorm")
def renorm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 2, 0, 1), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(2, 3), 0, 0, 1), RuntimeError, "non-positive")
    yield ErrorInput(SampleInput(make(2, 3), 2, 0, -1), RuntimeError, "maxnorm")
    yield ErrorInput(SampleInput(make(2, 3), 2, 2, 1), IndexError, "2")


@samples("count_nonzero")
def count_nonzero(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make())
    yield SampleInput(make(0, 3), 0)
    if not make.requires_grad:
        yield SampleInput(make.values([[1, 0, 0], [1, 1, 0]]), 1)


@error_samples("count_nonzero")
def count_nonzero_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")


# Running results


@samples("running_extremum")
def running_extremum(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1)
    if not make.requires_grad:
        yield SampleInput(make.values([1, 0, 1, 1, 0, 1, 0, 0]), 0)  # of equal elements the last one
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([1.0, 3.0, 2.0, _NAN, 5.0, _NAN]), 0)
        yield SampleInput(make.extremes().reshape(4, 4), 1)


@samples("logcumsumexp")
def logcumsumexp(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:
        return
    for tensor in tensors(make):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 0)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([-_INF, -_INF, 3.0, _INF, 2.0]), 0)
        yield SampleInput(make.values([1.0, _NAN, 2.0]), 0)
        yield SampleInput(make(20, low=-100.0, high=100.0), 0)


@error_samples("running_extremum", "logcumsumexp")
def running_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(), 1), IndexError, "1|scalar")
