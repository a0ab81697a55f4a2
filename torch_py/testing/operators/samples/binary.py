"""Pairs of tensors that broadcast, for every operator of two tensors, or of a tensor and a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py.testing.operators.make import Make
from torch_py.testing.operators.registry import ErrorInput, SampleInput, error_samples, samples


def pairs(make: Make, other: dict[str, Any] | None = None, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Pairs of tensors that broadcast. ``options`` apply to both, ``other`` only to the second."""
    second = {**options, **(other or {})}

    yield make(2, 3, **options), make(2, 3, **second)
    yield make(**options), make(**second)
    yield make(2, 3, **options), make(**second)
    yield make(**options), make(3, **second)
    yield make(2, 1, **options), make(1, 3, **second)
    yield make(0, **options), make(1, **second)
    yield make(2, 3, layout="transposed", **options), make(2, 3, layout="strided", **second)

    if make.requires_grad:
        return

    yield make(2, 3, 4, **options), make(3, 1, **second)
    yield make(2, 0, 3, **options), make(3, **second)
    yield make(71, **options), make(71, **second)
    yield make(9, 5, layout="transposed", **options), make(9, 5, layout="transposed", **second)
    yield make(2, 3, 2, 2, layout="channels_last", **options), make(3, 1, 1, **second)
    yield make(4, 5, layout="expanded", **options), make(4, 5, layout="offset", **second)
    yield make(40, layout="strided", **options), make(1, **second)


def mixed(make: Make, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Operands of different dtypes, for type promotion."""
    if make.requires_grad:
        return
    for dtype in ("float32", "int64", "bool", "float64", "uint8", "bfloat16"):
        if dtype != make.dtype_name:
            yield make(2, 3, **options), make(2, 3, dtype=dtype, **options)
            yield make(2, 3, **options), make(dtype=dtype, **options)
            yield make(**options), make(3, dtype=dtype, **options)


def numbers(make: Make) -> list[Any]:
    if make.is_complex:
        return [2, -1.5, 1 + 2j]
    return [2, -1.5] if make.requires_grad else [2, -1.5, 3, True]


def binary_samples(
    make: Make, extremes: bool = True, other: dict[str, Any] | None = None, **options: Any
) -> Iterator[SampleInput]:
    for pair in pairs(make, other, **options):
        yield SampleInput(*pair)
    for pair in mixed(make, **{**options, **(other or {})}):
        yield SampleInput(*pair)
    if extremes and make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes())


def with_numbers(make: Make, **options: Any) -> Iterator[SampleInput]:
    """A number in place of the second tensor, for operators with ``scalars:``."""
    for number in numbers(make):
        yield SampleInput(make(2, 3, **options), number)
    yield SampleInput(make(**options), 3)


def mismatched(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 4)), RuntimeError, r"3.*4.*dimension 1|size")
    yield ErrorInput(SampleInput(make(3), make(2)), RuntimeError, r"3.*2.*dimension 0|size")


@samples("binary")
def binary(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make)
    yield from with_numbers(make)


@error_samples(
    "binary",
    "binary_nonzero",
    "binary_float",
    "binary_float_nonzero",
    "binary_distinct",
    "binary_compare",
    "binary_integer",
    "binary_shift",
)
def mismatch_errors(make: Make) -> Iterator[ErrorInput]:
    for error in mismatched(make):
        integers = error.sample.map(lambda tensor: tensor.to(make.torch.int64))
        yield error
        yield ErrorInput(integers, error.error, error.message)
