"""Samples of medians, k-th values and modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")


def _with_nan(make: Make) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(
            make.values([[3.0, _NAN, 1.0, 2.0], [_NAN, 5.0, _NAN, _NAN], [4.0, 2.0, 1.0, 3.0]]), 1
        )
        yield SampleInput(make.values([_NAN, _NAN]), 0)
        yield SampleInput(make.values([1.0, _NAN, 1.0, 1.0, _NAN]), 0)
        yield SampleInput(make.values([float("inf"), -float("inf"), 0.0]), 0)


@samples("median_all")
def median_all(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor)
    yield SampleInput(make())
    if not make.requires_grad:
        yield SampleInput(make.values([2, 1, 1, 3, 1]))
        yield SampleInput(make(0))
        yield SampleInput(make(2, 0, 3))
        for sample in _with_nan(make):
            yield SampleInput(sample.input)


def _without_repetition(make: Make) -> Iterator[Any]:
    """Tensors without expanded ones, whose medians PyTorch 2.13 computes wrongly."""
    return (tensor for tensor in tensors(make, distinct=True) if 0 not in tensor.stride())


@samples("order_statistic")
def order_statistic(make: Make) -> Iterator[SampleInput]:
    for tensor in _without_repetition(make):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1, True)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield SampleInput(make(2, 3, 2, distinct=True), dim=1, keepdim=True)
    yield from _with_nan(make)


@error_samples("order_statistic")
def order_statistic_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)
    yield ErrorInput(SampleInput(make(0, 3), 0), IndexError, "0.*non-zero")


def _dim_errors(make: Make, *args: int) -> Iterator[ErrorInput]:
    for dim in (2, -3):
        yield ErrorInput(SampleInput(make(2, 3), *args, dim), IndexError, str(dim))
    yield ErrorInput(SampleInput(make(), *args, 1), IndexError, "1")


@samples("kthvalue")
def kthvalue(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 2)
        yield SampleInput(tensor, tensor.shape[0], 0, True)
        yield SampleInput(tensor, 1, -1)
    yield SampleInput(make(), 1)
    yield SampleInput(make(0, 3), 1, 1)
    yield SampleInput(make(2, 3, distinct=True), k=2, dim=1, keepdim=True)
    if make.is_floating and not make.requires_grad:
        for k in (1, 2, 3):
            yield SampleInput(make.values([_NAN, 1.0, 2.0]), k)


@error_samples("kthvalue")
def kthvalue_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make, 1)
    yield ErrorInput(SampleInput(make(0, 3), 1, 0), IndexError, "0.*non-zero")
    for k in (0, -1, 4):
        yield ErrorInput(SampleInput(make(3), k), RuntimeError, f"k is {k}")


@samples("mode")
def mode(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, distinct=make.is_inexact):
        # Which of several equal elements of a long lane is found is not defined.
        if make.is_inexact or max(tensor.shape) <= 16:
            yield SampleInput(tensor)
            yield SampleInput(tensor, 0, True)

    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3))
    yield SampleInput(make(2, 3, 2, distinct=True), dim=1, keepdim=True)

    if not make.requires_grad:
        yield SampleInput(make.values([2, 1, 2, 1, 3]))
        yield SampleInput(make.values([[1, 2, 2], [3, 3, 1], [1, 1, 1]]), 1)
        yield SampleInput(make.values([[1, 2, 2], [3, 3, 1], [1, 1, 1]]), 0, True)


@error_samples("mode")
def mode_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _dim_errors(make)
    yield ErrorInput(SampleInput(make(0, 3), 0), IndexError, "0.*non-zero")
