"""Samples of mathematical functions of two tensors, such as hypot, maximum and ldexp."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.binary import binary_samples, pairs
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("binary_float")
def binary_float(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make)


@samples("binary_float_nonzero")
def binary_float_nonzero(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, away_from=(0,))


@samples("binary_distinct")
def binary_distinct(make: Make) -> Iterator[SampleInput]:
    """Pairs for maximum and minimum, without ties where gradients are taken."""
    yield from binary_samples(make)
    if not make.requires_grad:
        yield SampleInput(make.values([0, 1, 1, 0]), make.values([1, 1, 0, 0]))


@samples("xlogy")
def xlogy(make: Make) -> Iterator[SampleInput]:
    positive = {"low": 0.3, "high": 2.5}
    yield from binary_samples(make, other=positive)
    yield SampleInput(make(2, 3), 2)
    yield SampleInput(1.5, make(2, 3, **positive))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([0, 0, 0, 1, 1, -1]), make.values([0, -1, float("nan"), 0, -1, 0.5]))


@samples("copysign")
def copysign(make: Make) -> Iterator[SampleInput]:
    yield from binary_samples(make, extremes=False, away_from=(0,))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes()[1:])
    for number in (2, -1.5):
        yield SampleInput(make(2, 3, away_from=(0,)), number)


@samples("binary_float_nan")
def binary_float_nan(make: Make) -> Iterator[SampleInput]:
    """Pairs with different elements, and all extremes where no gradient is taken."""
    for shape in ((2, 3), (), (0,)):
        yield SampleInput(make(*shape, low=-2.0, high=-1.0), make(*shape, low=1.0, high=2.0))
    yield SampleInput(make(2, 1, low=1.0, high=2.0), make(3, low=-2.0, high=-1.0))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(71), make(71))
        yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes())


@samples("binary_same_dtype")
def binary_same_dtype(make: Make) -> Iterator[SampleInput]:
    if make.is_complex:
        return
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(), make())
    yield SampleInput(make(2, 1), make(3))
    yield SampleInput(make(0), make(1))
    yield SampleInput(make.values([0, 1, 0, 1]), make.values([1, 1, 0, 0]))
    yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))
    if make.is_floating:
        yield SampleInput(make.extremes(), make(16))


@error_samples("binary_same_dtype")
def binary_same_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "different dtypes")
    yield ErrorInput(
        SampleInput(make(2, dtype="complex64"), make(2, dtype="complex64")), RuntimeError, "complex"
    )


@samples("binary_integer_only")
def binary_integer_only(make: Make) -> Iterator[SampleInput]:
    if not make.is_integral:
        return
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(make(*shape, low=-9.0, high=9.0), make(*shape, low=-9.0, high=9.0))
    yield SampleInput(make(2, 1), make(3))
    yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))
    yield SampleInput(make.values([0, 0, 6, 12]), make.values([0, 4, 0, 18]))
    for dtype in ("int32", "uint8"):
        yield SampleInput(make(2, 3), make(2, 3, dtype=dtype))


@samples("ldexp")
def ldexp(make: Make) -> Iterator[SampleInput]:
    for pair in pairs(make):
        yield SampleInput(*pair)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(2, 3, dtype="int64"))
        yield SampleInput(make(2, 3, dtype="int64"), make(2, 3))
