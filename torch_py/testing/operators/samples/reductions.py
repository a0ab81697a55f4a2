"""Tensors, dimensions and wrong dimensions, for reductions, scans and sorting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py.testing.operators.make import Make
from torch_py.testing.operators.registry import ErrorInput, SampleInput, error_samples, samples


def tensors(make: Make, **options: Any) -> Iterator[Any]:
    """Non-empty tensors with dimensions, in layouts that reduce inner, outer and both dimensions."""
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


def over_all(make: Make, **options: Any) -> Iterator[SampleInput]:
    for tensor in tensors(make, **options):
        yield SampleInput(tensor)
    yield SampleInput(make(**options))


def over_nothing(make: Make) -> Iterator[SampleInput]:
    """Along dimensions without elements, and tensors without any."""
    yield SampleInput(make(0, 3), 0)
    yield SampleInput(make(0, 3), 1, keepdim=True)
    yield SampleInput(make(2, 0, 3), [1])


def extremes(make: Make, *args: Any) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), *args)
        yield SampleInput(make.extremes().reshape(4, 4), *args)
        yield SampleInput(make.values([1.0, float("inf"), 2.0]), *args)


def dim_errors(make: Make, *args: Any) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), *args, 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(2, 3), *args, -3), IndexError, "-3")
    yield ErrorInput(SampleInput(make(), *args, 1), IndexError, "1")


def dims_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)
    yield ErrorInput(SampleInput(make(2, 3), [0, 0]), RuntimeError, "dim 0.*multiple|dims?.*0")
    yield ErrorInput(SampleInput(make(2, 3), [1, -1]), RuntimeError, "dim 1.*multiple|dims?.*1")


@error_samples("reduction_dtype", "reduction_float", "reduction_bool")
def reduction_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dims_errors(make)


@error_samples("reduction_one_dim", "reduction_dim_values")
def reduction_one_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make)


@samples("reduction")
def reduction(make: Make) -> Iterator[SampleInput]:
    """Along one, several and all dimensions, with and without ``keepdim``."""
    yield from over_dims(make)
    yield from over_all(make)
    if not make.requires_grad:
        yield from over_nothing(make)
