"""Samples of binary search."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")
_INF = float("inf")


@samples("searchsorted")
def searchsorted(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool or make.requires_grad:
        return

    line = make.values([1, 3, 3, 5, 7])
    values = make.values([[0, 1, 2], [3, 7, 9]])
    yield SampleInput(line, values)
    yield SampleInput(line, values, right=True)
    yield SampleInput(line, values, side="right")
    yield SampleInput(line, values, side="left", out_int32=True)
    yield SampleInput(line, values.t())
    yield SampleInput(line, make.values(3))

    rows = make.values([[1, 3, 5], [2, 4, 6]])
    yield SampleInput(rows, values)
    yield SampleInput(rows, values[:, :1], right=True)
    yield SampleInput(rows[:, ::2], values)

    yield SampleInput(make.values([5, 1, 3]), values, sorter=make.tensor([1, 2, 0], "int64"))
    yield SampleInput(line[:0], values)
    yield SampleInput(line, values[:0])
    yield SampleInput(line, make.tensor([0, 3, 8], "int64"))

    if make.is_floating:
        yield SampleInput(make.values([1.0, 2.0, _NAN]), make.values([_NAN, 1.5, _INF]))
        yield SampleInput(make.values([-_INF, 2.0, _INF]), make.values([-_INF, 1.5, _INF]), right=True)


@error_samples("searchsorted")
def searchsorted_errors(make: Make) -> Iterator[ErrorInput]:
    line, values = make(3), make(2)

    yield ErrorInput(SampleInput(line, values, side="up"), RuntimeError, "up")
    yield ErrorInput(SampleInput(line, values, side="left", right=True), RuntimeError, "opposites")
    yield ErrorInput(SampleInput(make(), values), RuntimeError, "positive dimension")
    yield ErrorInput(SampleInput(make(2, 3), values), RuntimeError, "N-1")
    yield ErrorInput(SampleInput(make(2, 3), make()), RuntimeError, "scalar")
    yield ErrorInput(
        SampleInput(line, values, sorter=make.tensor([0, 1], "int64")), RuntimeError, "same size"
    )
    yield ErrorInput(SampleInput(line, values, sorter=make(3)), RuntimeError, "long")
    yield ErrorInput(
        SampleInput(line, values, sorter=make.tensor([0, 1, 3], "int64")), RuntimeError, "out of range"
    )


@samples("searchsorted_scalar")
def searchsorted_scalar(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool or make.requires_grad:
        return
    line = make.values([1, 3, 3, 5, 7])
    for value in (0, 3, 3.5, 9):
        yield SampleInput(line, value)
    yield SampleInput(line, 3, right=True, out_int32=True)
    yield SampleInput(make.values([5, 1, 3]), 2, sorter=make.tensor([1, 2, 0], "int64"))


@samples("bucketize")
def bucketize(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool or make.requires_grad:
        return
    line = make.values([1, 3, 5, 7])
    values = make.values([[0, 1, 2], [3, 7, 9]])
    yield SampleInput(values, line)
    yield SampleInput(values.t(), line, right=True)
    yield SampleInput(make.values(3), line, out_int32=True)
    yield SampleInput(values[:0], line)
    yield SampleInput(make.tensor([0, 3, 8], "int64"), line)


@error_samples("bucketize")
def bucketize_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, 2)), RuntimeError, "1 dimension")


@samples("bucketize_scalar")
def bucketize_scalar(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool or make.requires_grad:
        return
    for value in (0, 3, 3.5, 9):
        yield SampleInput(value, make.values([1, 3, 5, 7]))
    yield SampleInput(3, make.values([1, 3, 5, 7]), right=True, out_int32=True)
