"""Functions of two tensors, or a tensor and a number, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def pairs(make: Make, other: dict[str, Any] | None = None, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Two tensors that broadcast; ``options`` are those of both, ``other`` those of the second only."""
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
    """Operands of different dtypes: what the dtype of the result is, is a rule of its own."""
    if make.requires_grad:
        return
    for dtype in ("float32", "int64", "bool", "float64", "uint8", "bfloat16"):
        if dtype != make.dtype_name:
            yield make(2, 3, **options), make(2, 3, dtype=dtype, **options)
            yield make(2, 3, **options), make(dtype=dtype, **options)
            yield make(**options), make(3, dtype=dtype, **options)


def _numbers(make: Make) -> list[Any]:
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
    for number in _numbers(make):
        yield SampleInput(make(2, 3, **options), number)
    yield SampleInput(make(**options), 3)


def _mismatched(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 4)), RuntimeError, r"3.*4.*dimension 1|size")
    yield ErrorInput(SampleInput(make(3), make(2)), RuntimeError, r"3.*2.*dimension 0|size")


@samples("binary")
def binary(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make)
    yield from with_numbers(make)


@samples("binary_alpha")
def binary_alpha(make: Make) -> Iterator[SampleInput]:
    yield from binary(make)
    yield from _with_alpha(make)
    if make.is_bool:
        yield SampleInput(make(3), make(3), alpha=True)


@samples("binary_alpha_no_bool")
def binary_alpha_no_bool(make: Make) -> Iterator[SampleInput]:
    for sample in binary(make):
        if sample.args[0] is not True and not any(
            tensor.dtype is make.torch.bool for tensor in sample.tensors()
        ):
            yield sample
    yield from _with_alpha(make)


def _with_alpha(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return
    yield SampleInput(make(2, 3), make(3), alpha=2)
    yield SampleInput(make(2, 3), 2, alpha=3)
    if make.is_inexact:
        yield SampleInput(make(2, 3), make(2, 3), alpha=-0.5)
    if make.is_complex:
        yield SampleInput(make(2, 3), make(2, 3), alpha=0.5 - 1.5j)


@error_samples("binary_alpha_no_bool")
def binary_alpha_no_bool_errors(make: Make) -> Iterator[ErrorInput]:
    yield from binary_alpha_errors(make)
    yield ErrorInput(SampleInput(make.booleans(2), make.booleans(2)), RuntimeError, "bool")
    yield ErrorInput(SampleInput(make(2), make.booleans(2)), RuntimeError, "bool")


@error_samples("binary_alpha")
def binary_alpha_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _mismatched(make)
    integers = make(2, dtype="int64")
    yield ErrorInput(SampleInput(integers, integers, alpha=0.5), RuntimeError, "alpha")
    yield ErrorInput(SampleInput(make(2), make(2), alpha=1j), RuntimeError, "alpha|complex")


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
    yield from _mismatched(make)
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


@samples("binary_float")
def binary_float(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make)


@samples("binary_float_nonzero")
def binary_float_nonzero(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, away_from=(0,))


@samples("binary_distinct")
def binary_distinct(make: Make) -> Iterator[SampleInput]:
    """For the larger and the smaller of two: no ties where gradients are taken."""
    yield from binary_samples(make)
    if not make.requires_grad:
        yield SampleInput(make.values([0, 1, 1, 0]), make.values([1, 1, 0, 0]))


@samples("binary_compare")
def binary_compare(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make)
    yield from with_numbers(make)
    yield SampleInput(make.values([0, 1, 1, 0]), make.values([1, 1, 0, 0]))
    yield SampleInput(make.values([0, 1, 2, 3]), 2)


@samples("binary_same")
def binary_same(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make):
        yield SampleInput(*pair)
        yield SampleInput(pair[0], pair[0])
    if make.is_floating:
        nan = make.values([1.0, float("nan"), float("inf")])
        yield SampleInput(nan, nan)
        yield SampleInput(nan, nan, equal_nan=True)
        near = make.values([1.0, 2.0, 3.0])
        yield SampleInput(near, make.values([1.05, 2.0, 3.2]), rtol=0.1, atol=0.0)
        yield SampleInput(near, make.values([1.05, 2.0, 3.2]), rtol=0.0, atol=0.1)


@samples("binary_integer")
def binary_integer(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make):
        yield SampleInput(*pair)
    for dtype in () if make.requires_grad else ("int32", "uint8", "bool"):
        yield SampleInput(make(2, 3), make(2, 3, dtype=dtype))
    yield SampleInput(make(2, 3), 5)
    yield SampleInput(make(2, 3), True)


@samples("binary_shift")
def binary_shift(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make, {"low": 0.0, "high": 2.0}):
        yield SampleInput(*pair)
    yield SampleInput(make(2, 3), 2)


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
    for error in _mismatched(make):
        integers = error.sample.map(lambda tensor: tensor.to(make.torch.int64))
        yield error
        yield ErrorInput(integers, error.error, error.message)


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
    yield from _mismatched(make)


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


# Choice by a condition


@samples("where")
def where(make: Make) -> Iterator[SampleInput]:
    for first, second in pairs(make):
        yield SampleInput(make.booleans(1), first, second)
    yield SampleInput(make.booleans(2, 3), make(2, 3), make(2, 3))
    yield SampleInput(make.booleans(), make(3), make(3))
    yield SampleInput(make.booleans(2, 1), make(3), make())
    for first, second in mixed(make):
        yield SampleInput(make.booleans(2, 3), first, second)


@error_samples("where")
def where_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make.booleans(2), make(3), make(3)), RuntimeError, "2.*3|3.*2|size")
    yield ErrorInput(SampleInput(make(3), make(3), make(3)), RuntimeError, "condition|[bB]ool")


@samples("where_scalar_other")
def where_scalar_other(make: Make) -> Iterator[SampleInput]:
    for number in _numbers(make):
        yield SampleInput(make.booleans(2, 3), make(2, 3), number)
    yield SampleInput(make.booleans(3), make(2, 1), 1)


@samples("where_scalar_self")
def where_scalar_self(make: Make) -> Iterator[SampleInput]:
    for number in _numbers(make):
        yield SampleInput(make.booleans(2, 3), number, make(2, 3))
    yield SampleInput(make.booleans(3), 1, make(2, 1))


@samples("where_scalars")
def where_scalars(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0,)):
        yield SampleInput(make.booleans(*shape), 1, 2)
        yield SampleInput(make.booleans(*shape), 1, 2.5)
        yield SampleInput(make.booleans(*shape), True, False)


@samples("where_nonzero")
def where_nonzero(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make.booleans(3, 4))
    yield SampleInput(make.booleans(5))
    yield SampleInput(make.booleans(0, 2))
    yield SampleInput(make.values([0, 1, 0, 2]))
