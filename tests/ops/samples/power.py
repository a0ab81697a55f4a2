"""Samples of powers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.binary import binary_samples, mismatched, pairs
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("binary_pow")
def binary_pow(make: Make) -> Iterator[SampleInput]:
    exponent: dict[str, Any] = {"low": 0.0, "high": 1.3} if make.is_integral else {"low": -2.0, "high": 2.0}
    for pair in pairs(make, exponent, low=0.3, high=2.0):
        yield SampleInput(*pair)
    for dtype in () if make.requires_grad else ("float32", "int64"):
        yield SampleInput(make(2, 3, low=0.3, high=2.0), make(2, 3, low=0.0, high=1.3, dtype=dtype))
    yield SampleInput(2, make(2, 3, **exponent))
    yield SampleInput(1.5, make(2, 3, **exponent))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes())


@error_samples("binary_pow")
def pow_errors(make: Make) -> Iterator[ErrorInput]:
    yield from mismatched(make)


@samples("pow_number")
def pow_number(make: Make) -> Iterator[SampleInput]:
    for number in (2, 3, 0, 0.5, 2.5):
        yield SampleInput(make(2, 3, low=0.3, high=2.0), number)
    if make.is_inexact:
        yield SampleInput(make(2, 3, low=0.3, high=2.0), -1)
        yield SampleInput(make(2, 3, low=0.3, high=2.0), -1.5)
        yield SampleInput(make(2, 3, away_from=(0,)), 3)


@error_samples("pow_number")
def pow_number_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, dtype="int64"), -1), RuntimeError, "negative")
    yield ErrorInput(SampleInput(make(2, dtype="uint8"), -1), RuntimeError, "negative")
    yield ErrorInput(SampleInput(make(2, dtype="int8"), 300), RuntimeError, "without overflow")


@samples("float_power")
def float_power(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, extremes=False, other={"low": -2.0, "high": 2.0}, low=0.3, high=2.0)


@samples("float_power_number")
def float_power_number(make: Make) -> Iterator[SampleInput]:
    for base in (2, 1.5, 1j) if make.is_complex else (2, 1.5):
        yield SampleInput(base, make(2, 3))


@samples("float_power_by_number")
def float_power_by_number(make: Make) -> Iterator[SampleInput]:
    for exponent in (2, 3, 0, 0.5, -1.5):
        yield SampleInput(make(2, 3, low=0.3, high=2.0, away_from=(0,)), exponent)


@samples("float_power_inplace")
def float_power_inplace(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name in ("float64", "complex128"):
        yield SampleInput(make(2, 3, low=0.3, high=2.0), make(2, 3))
        yield SampleInput(make(2, 3, low=0.3, high=2.0), make(3))


@samples("float_power_by_number_inplace")
def float_power_by_number_inplace(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name in ("float64", "complex128"):
        yield SampleInput(make(2, 3, low=0.3, high=2.0), 2.5)


@error_samples("float_power_inplace")
def float_power_inplace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2)), RuntimeError, "Float.*Double")
