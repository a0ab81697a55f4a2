"""Samples of sums, means and logsumexp."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import (
    dim_errors,
    dims_errors,
    extremes,
    over_all,
    over_dims,
    over_nothing,
    tensors,
)
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")
_INF = float("inf")


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


@samples("reduction_dtype")
def reduction_dtype(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    yield from over_all(make)
    yield from over_nothing(make)
    yield from extremes(make)
    yield from extremes(make, 0)

    yield SampleInput(make(2, 3), 0, dtype=make.torch.complex128 if make.is_complex else make.torch.float64)
    yield SampleInput(make(0))

    if not make.requires_grad:
        yield SampleInput(make(2, 3), [])
        yield SampleInput(make(2, 3), None, True)
        yield (
            SampleInput(make(2, 3), dtype=make.torch.int64)
            if not make.is_complex
            else SampleInput(make(2, 3))
        )


@samples("reduction_float")
def reduction_float(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    yield from over_all(make)
    yield from over_nothing(make)
    yield from extremes(make, 0)
    if not make.is_complex:
        yield SampleInput(make(2, 3), 0, dtype=make.torch.float64)


@samples("reduction_bits")
def reduction_bits(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make, distinct=True)
    yield SampleInput(make(0, 3), 1)


@samples("hash_tensor")
def hash_tensor(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor)
        yield SampleInput(tensor, (0,) if tensor.dim() else ())
        yield SampleInput(tensor, -1, keepdim=True)
    yield SampleInput(make(2, 3, 2), (0, 2), keepdim=True, mode=0)
    yield SampleInput(make(0, 3), 1)


@error_samples("hash_tensor")
def hash_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dims_errors(make)
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2), mode=1), RuntimeError, "mode")


@samples("logsumexp")
def logsumexp(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(2, 3, low=80.0, high=100.0), 1)
        yield SampleInput(make.values([[float("-inf"), float("-inf")], [float("inf"), 1.0]]), 1)


@error_samples("logsumexp")
def logsumexp_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)


@samples("sum_to_size")
def sum_to_size(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), (2, 3))
    yield SampleInput(make(2, 3), (1, 3))
    yield SampleInput(make(2, 3), (3,))
    yield SampleInput(make(4, 2, 3), (2, 1))
    yield SampleInput(make(2, 3), ())


@error_samples("sum_to_size")
def sum_to_size_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (2,)), RuntimeError, r"2.*3|expand")
