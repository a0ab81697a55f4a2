"""Samples of division, with and without rounding, and of remainders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.binary import binary_samples, mismatched, pairs, with_numbers
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("binary_nonzero")
def binary_nonzero(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, other={"low": 0.4, "high": 2.5})
    yield from with_numbers(make)


@samples("binary_nonzero_real")
def binary_nonzero_real(make: Make) -> Iterator[SampleInput]:
    yield from _nonzero_divisors(make)


def _nonzero_divisors(make: Make, **keywords: Any) -> Iterator[SampleInput]:
    divisor: dict[str, Any] = {"low": 0.4, "high": 2.5, "away_from": (0,)}

    for pair in pairs(make, divisor):
        yield SampleInput(*pair, **keywords)
    for dtype in () if make.requires_grad else ("float32", "int64"):
        yield SampleInput(make(2, 3), make(2, 3, dtype=dtype, **divisor), **keywords)
    for number in (2, -1.5):
        yield SampleInput(make(2, 3), number, **keywords)

    if make.is_bool:
        return

    if make.dtype_name != "uint8" and not make.requires_grad:
        yield SampleInput(make.values([3, -3, 3, -3, 0, 0]), make.values([2, 2, -2, -2, 2, -2]), **keywords)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes(), **keywords)


@error_samples("binary_nonzero_real")
def division_errors(make: Make) -> Iterator[ErrorInput]:
    yield from mismatched(make)
    integers = make(2, dtype="int64")
    yield ErrorInput(SampleInput(integers, integers * 0), RuntimeError, "(?i)zero")


@samples("div_mode")
def div_mode(make: Make) -> Iterator[SampleInput]:
    for mode in ("trunc", "floor", None):
        yield from _nonzero_divisors(make, rounding_mode=mode)


@samples("div_of_number_mode")
def div_of_number_mode(make: Make) -> Iterator[SampleInput]:
    for mode in ("trunc", "floor", None):
        for number in (7, 2.5) if make.is_inexact else (7,):
            yield SampleInput(number, make(2, 3, away_from=(0,)), rounding_mode=mode)


@error_samples("div_mode")
def div_mode_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2), rounding_mode="up"), RuntimeError, "rounding_mode.*up")
    yield ErrorInput(SampleInput(make(3), make(2), rounding_mode="floor"), RuntimeError, "3.*2|size")
