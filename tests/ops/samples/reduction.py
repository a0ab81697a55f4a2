"""Reductions, running sums, sorting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def tensors(make: Make, **options: Any) -> Iterator[Any]:
    """Non-empty tensors of at least one dimension, in layouts that reduce along inner, outer and both
    dimensions."""
    yield make(3, 4, **options)
    yield make(5, **options)
    yield from make.layouts(3, 4, **options)
    if not make.requires_grad:
        yield make(2, 3, 4, **options)
        yield make(3, 131, **options)  # longer than any vector register, with a remainder
        yield make(131, 3, **options)
        yield make(4, 3, 2, layout="transposed", **options)


def over_dims(make: Make, **options: Any) -> Iterator[SampleInput]:
    """``dim`` as a number, a list, negative, and with ``keepdim``."""
    for tensor in tensors(make, **options):
        last = tensor.dim() - 1
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, [-1], True)
        yield SampleInput(tensor, list(range(last + 1)), keepdim=True)
        if last > 1:
            yield SampleInput(tensor, [0, last])
            yield SampleInput(tensor, 1)
    yield SampleInput(make(**options), 0)
    yield SampleInput(make(**options), -1, True)


def _over_all(make: Make, **options: Any) -> Iterator[SampleInput]:
    for tensor in tensors(make, **options):
        yield SampleInput(tensor)
    yield SampleInput(make(**options))


def _over_nothing(make: Make) -> Iterator[SampleInput]:
    """Along dimensions without elements, and tensors without any."""
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1, keepdim=True)
    yield SampleInput(make(2, 0, 3), [1])


def _extremes(make: Make, *args: Any) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), *args)
        yield SampleInput(make.extremes().reshape(4, 4), *args)
        yield SampleInput(make.values([1.0, float("inf"), 2.0]), *args)


def _dim_errors(make: Make, *args: Any) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), *args, 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(2, 3), *args, -3), IndexError, "-3")
    yield ErrorInput(SampleInput(make(), *args, 1), IndexError, "1")


def _dims_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)
    yield ErrorInput(SampleInput(make(2, 3), [0, 0]), RuntimeError, "dim 0.*multiple|dims?.*0")
    yield ErrorInput(SampleInput(make(2, 3), [1, -1]), RuntimeError, "dim 1.*multiple|dims?.*1")


@samples("reduction_dtype")
def reduction_dtype(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    yield from _over_all(make)
    yield from _over_nothing(make)
    yield from _extremes(make)
    yield from _extremes(make, 0)
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
    yield from _over_all(make)
    yield from _over_nothing(make)
    yield from _extremes(make, 0)
    if not make.is_complex:
        yield SampleInput(make(2, 3), 0, dtype=make.torch.float64)


@error_samples("reduction_dtype", "reduction_float", "reduction_bool")
def reduction_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dims_errors(make)


@samples("reduction_bool")
def reduction_bool(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    yield from _over_all(make)
    yield from _over_nothing(make)
    yield SampleInput(make.values([[1, 1, 0], [1, 1, 1], [0, 0, 0]]), 1)


@samples("reduction_one_dim")
def reduction_one_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, low=-1.5, high=1.5):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, True)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1)
    # One zero, and two: the gradient does not divide by them.
    yield SampleInput(make.values([[1, 0, 2], [0, 3, 0]]), 1)
    if not make.is_complex:
        yield SampleInput(make(2, 3), 1, dtype=make.torch.float64)


@error_samples("reduction_one_dim", "reduction_dim_values")
def reduction_one_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)


@samples("reduction_all")
def reduction_all(make: Make) -> Iterator[SampleInput]:
    yield from _over_all(make, low=-1.5, high=1.5)
    yield SampleInput(make(0))
    yield SampleInput(make.values([1, 0, 2]))
    yield SampleInput(make(2, 3), dtype=make.torch.complex128 if make.is_complex else make.torch.float64)


@samples("reduction_all_real")
def reduction_all_real(make: Make) -> Iterator[SampleInput]:
    yield from _over_all(make, distinct=True)
    yield from _extremes(make)


@error_samples("reduction_all_real")
def reduction_all_real_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "dim|empty|numel")


@samples("reduction_nonempty")
def reduction_nonempty(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make, distinct=True)
    yield from _over_all(make, distinct=True)
    yield from _extremes(make, 0)
    yield from _extremes(make)
    yield SampleInput(make(0, 3), 1)
    if not make.requires_grad:
        yield SampleInput(make.values([[1, 1, 0], [0, 0, 0]]), 1)


@error_samples("reduction_nonempty")
def reduction_nonempty_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dims_errors(make)
    yield ErrorInput(SampleInput(make(0, 3), 0), IndexError, "dim")
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "dim")


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
    yield from _dims_errors(make)
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2), mode=1), RuntimeError, "mode")


@samples("reduction_dim_values")
def reduction_dim_values(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, True)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield from _extremes(make, 0)
    yield SampleInput(make(2, 3, 2, distinct=True), dim=1, keepdim=True)


@samples("argmax")
def argmax(make: Make) -> Iterator[SampleInput]:
    yield from _over_all(make, distinct=True)
    yield from reduction_dim_values(make)
    yield SampleInput(make(2, 3, distinct=True), None, True)
    if not make.requires_grad:
        yield SampleInput(make.values([1, 3, 3, 1]))


@error_samples("argmax")
def argmax_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)
    yield ErrorInput(SampleInput(make(0)), IndexError, "dim|reduc")
    yield ErrorInput(SampleInput(make(2, dtype="bool")), RuntimeError, "[Bb]ool")
    yield ErrorInput(SampleInput(make(2, dtype="complex64")), RuntimeError, "[Cc]omplex")
    yield ErrorInput(SampleInput(make(0, 3), 0), IndexError, "dim|reduc")


# Moments and norms


@samples("variance")
def variance(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, correction=0)
        yield SampleInput(tensor, [0, -1] if tensor.dim() > 1 else 0, correction=2, keepdim=True)
    yield SampleInput(make(3, 4), 0, correction=0.5)


@samples("variance_dim")
def variance_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, [-1], False)
        yield SampleInput(tensor, 0, True, True)
    yield SampleInput(make(3, 4), [0, 1], False)


@samples("variance_unbiased")
def variance_unbiased(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, True)
        yield SampleInput(tensor, False)


@error_samples("variance", "variance_dim")
def variance_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)
    yield ErrorInput(SampleInput(make(2, 3, dtype="int64"), 0), RuntimeError, "floating|dtype|Long|int64")


@samples("logsumexp")
def logsumexp(make: Make) -> Iterator[SampleInput]:
    yield from over_dims(make)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(2, 3, low=80.0, high=100.0), 1)
        yield SampleInput(make.values([[float("-inf"), float("-inf")], [float("inf"), 1.0]]), 1)


@error_samples("logsumexp")
def logsumexp_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)


@error_samples("norm_dim")
def norm_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make, 2)


@samples("norm_dim")
def norm_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(0,)):
        for p in (2, 1, 3, 0.5):
            yield SampleInput(tensor, p, [0])
        yield SampleInput(tensor, None, [-1], True)
    for p in (float("inf"), float("-inf"), 0):
        yield SampleInput(make(3, 4, low=0.2, high=3.0, distinct=True), p, [1])
    yield SampleInput(make(2, 3, away_from=(0,)), 2, [0, 1])


@samples("norm_all")
def norm_all(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(0,)):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 1)
        yield SampleInput(tensor, 3)


def _norm_dtypes(make: Make) -> list[Any]:
    """Those that a norm can be computed in, wider ones and the tensor's own."""
    return [make.torch.float64, make.dtype] if make.is_floating else []


@samples("norm_dim_dtype")
def norm_dim_dtype(make: Make) -> Iterator[SampleInput]:
    for dtype in _norm_dtypes(make):
        for tensor in tensors(make, away_from=(0,)):
            yield SampleInput(tensor, 2, [0], False, dtype=dtype)
        yield SampleInput(make(2, 3, away_from=(0,)), 1, [0, 1], True, dtype=dtype)
        yield SampleInput(make(2, 3, away_from=(0,)), None, [-1], False, dtype=dtype)


@samples("norm_all_dtype")
def norm_all_dtype(make: Make) -> Iterator[SampleInput]:
    for dtype in _norm_dtypes(make):
        for tensor in tensors(make, away_from=(0,)):
            yield SampleInput(tensor, 3, dtype=dtype)
            yield SampleInput(tensor, None, dtype=dtype)


@error_samples("norm_dim_dtype")
def norm_dim_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 3), 2, [0], False, dtype=make.torch.int64), RuntimeError, "floating point"
    )
    yield ErrorInput(
        SampleInput(make(2, 3), 2, [0], False, dtype=make.torch.float16), RuntimeError, "without narrowing"
    )


@error_samples("norm_all_dtype")
def norm_all_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 2, dtype=make.torch.int64), RuntimeError, "floating point")
    yield ErrorInput(SampleInput(make(3), 2, dtype=make.torch.bfloat16), RuntimeError, "without narrowing")


@samples("count_nonzero_dim")
def count_nonzero_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, [0])
        yield SampleInput(tensor, [-1])
    yield SampleInput(make.values([[1, 0, 0], [1, 1, 0]]), [0, 1])
    yield SampleInput(make.values([[1, 0, 0], [1, 1, 0]]), [1])


@error_samples("count_nonzero_dim")
def count_nonzero_dim_errors(make: Make) -> Iterator[ErrorInput]:
    for error in _dim_errors(make):
        tensor, dim = error.sample.positional
        yield ErrorInput(SampleInput(tensor, [dim]), error.error, error.message)


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


# Running sums


@samples("cumulative")
def cumulative(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, low=-1.2, high=1.2):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make.values([1, 0, 2, 0, 3]), 0)
    if make.is_floating:
        yield SampleInput(make(2, 3), 1, dtype=make.torch.float64)


@error_samples("cumulative")
def cumulative_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)


# Orders


@samples("sort")
def sort(make: Make) -> Iterator[SampleInput]:
    for tensor in (
        tensors(make, distinct=True) if not make.is_bool else []
    ):  # which of equal elements comes first is not defined
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0, True)
    yield SampleInput(make())
    yield SampleInput(make(0, 3))
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(1, 1), -1, True)


@error_samples("sort")
def sort_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)


@error_samples("sort_stable")
def sort_stable_errors(make: Make) -> Iterator[ErrorInput]:
    for dim in (2, -3):
        yield ErrorInput(SampleInput(make(2, 3), stable=True, dim=dim), IndexError, str(dim))


@samples("sort_stable")
def sort_stable(make: Make) -> Iterator[SampleInput]:
    """Ties, whose order is defined here."""
    for sample in sort(make):
        yield SampleInput(*sample.positional[:1], stable=True)
    yield SampleInput(make(3, 5, distinct=True), stable=True, dim=0, descending=True)
    if not make.requires_grad:
        yield SampleInput(make.values([1, 0, 1, 1, 0, 1, 0, 0]), stable=True)
        yield SampleInput(make.values([1, 0, 1, 1, 0, 1, 0, 0]), stable=True, descending=True)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), stable=True)
        yield SampleInput(make.extremes(), stable=True, descending=True)


@samples("topk")
def topk(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 2)
        yield SampleInput(tensor, 1, 0, False)
        yield SampleInput(tensor, tensor.shape[0], 0, True, True)
    yield SampleInput(make(), 1)
    yield SampleInput(make(3, 4), 0)
    yield SampleInput(make(0, 3), 2, 1)


@error_samples("topk")
def topk_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 4), RuntimeError, "k|4")
    yield ErrorInput(SampleInput(make(3), -1), RuntimeError, "k|-1")
    yield ErrorInput(SampleInput(make(3), 1, 1), IndexError, "1")
