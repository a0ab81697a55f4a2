"""Samples of where and of operators that read or write by mask."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.binary import mixed, numbers, pairs
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


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
    for number in numbers(make):
        yield SampleInput(make.booleans(2, 3), make(2, 3), number)
    yield SampleInput(make.booleans(3), make(2, 1), 1)


@samples("where_scalar_self")
def where_scalar_self(make: Make) -> Iterator[SampleInput]:
    for number in numbers(make):
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


@samples("masked_fill")
def masked_fill(make: Make) -> Iterator[SampleInput]:
    value = -0.5 if make.is_inexact else 1
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, make.booleans(3, 4), value)
    yield SampleInput(make(3, 4), make.booleans(4), value)
    yield SampleInput(make(3, 4), make.booleans(), 0)
    yield SampleInput(make(), make.booleans(), value)
    yield SampleInput(make(0, 4), make.booleans(4), value)


@error_samples("masked_fill")
def masked_fill_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(3), 0), RuntimeError, "mask|[bB]ool")
    yield ErrorInput(SampleInput(make(3), make.booleans(2), 0), RuntimeError, "2.*3|3.*2")
    yield ErrorInput(
        SampleInput(make(3, dtype="int64"), make.booleans(3), 1j),
        RuntimeError,
        "complex|overflow|Long|convert",
    )


@samples("masked_fill_tensor")
def masked_fill_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make.booleans(3, 4), make())
    yield SampleInput(make(3, 4, layout="transposed"), make.booleans(4), make())


@error_samples("masked_fill_tensor")
def masked_fill_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make.booleans(3), make(1)), RuntimeError, "0-dim|dim")


@samples("masked_select")
def masked_select(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, make.booleans(3, 4))
    yield SampleInput(make(3, 4), make.booleans(4))
    yield SampleInput(make(4), make.booleans(3, 4))
    yield SampleInput(make(), make.booleans())


@error_samples("masked_select")
def masked_select_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(3)), RuntimeError, "mask|[bB]ool")
    yield ErrorInput(SampleInput(make(3), make.booleans(2)), RuntimeError, "2.*3|3.*2|size")


@samples("masked_scatter")
def masked_scatter(make: Make) -> Iterator[SampleInput]:
    mask = make.values([[True, False, True], [False, True, True]], "bool")
    yield SampleInput(make(2, 3), mask, make(4))
    yield SampleInput(make(2, 3, layout="transposed"), mask, make(5))
    yield SampleInput(make(2, 3), mask[0], make(2, 2))


@error_samples("masked_scatter")
def masked_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    mask = make.values([True, False, True], "bool")
    yield ErrorInput(SampleInput(make(3), mask, make(2, dtype="float64")), RuntimeError, "dtype|type")
    yield ErrorInput(SampleInput(make(3), make(3), make(3)), RuntimeError, "mask|[bB]ool")
