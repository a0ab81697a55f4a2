"""Unique elements, membership, binary search, counting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN, _INF = float("nan"), float("inf")


def _repetitive(make: Make, *shape: int, layout: Any = "contiguous") -> Any:
    """A few numbers again and again."""
    return (
        make(*shape, layout=layout, low=-1, high=1, distinct=False).round()
        if make.is_floating
        else make(*shape, layout=layout)
    )


@samples("unique")
def unique(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.requires_grad:
        return
    for tensor in (
        _repetitive(make, 12),
        _repetitive(make, 3, 5, layout="transposed"),
        _repetitive(make, 4, 6, layout="strided"),
    ):
        yield SampleInput(tensor)
        yield SampleInput(tensor, True, True, True)
        yield SampleInput(tensor, sorted=False, return_inverse=True)
        yield SampleInput(tensor, return_counts=True)
    yield SampleInput(make(), True, True, True)
    yield SampleInput(make(0), True, True, True)
    if make.is_floating:
        yield SampleInput(make.values([3.0, _NAN, 1.0, _NAN, -_INF]), True, True, True)
        yield SampleInput(make.values([0.0, -0.0, 1.0]))


@samples("unique_dim")
def unique_dim(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.requires_grad:
        return
    rows = make.values([[1, 0, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1]])
    for dim in (0, 1, -1):
        yield SampleInput(rows, dim)
        yield SampleInput(rows, dim, True, True, True)
    yield SampleInput(_repetitive(make, 6), 0, True, True, True)
    yield SampleInput(_repetitive(make, 2, 5, 2, layout="transposed"), 1, sorted=False, return_inverse=True)
    yield SampleInput(make(0, 3), 0, True, True, True)


@error_samples("unique_dim")
def unique_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), 0), IndexError, "no dimensions")
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(0, 3), 1), RuntimeError, "0 sized")
    yield ErrorInput(SampleInput(make(0, 0), 1), RuntimeError, "more than one")


@samples("unique_consecutive")
def unique_consecutive(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.requires_grad:
        return
    runs = make.values([1, 1, 0, 0, 0, 1])
    yield SampleInput(runs)
    yield SampleInput(runs, True, True)
    yield SampleInput(runs, return_counts=True)
    yield SampleInput(runs.reshape(2, 3), True, True)
    yield SampleInput(runs.reshape(3, 2).t(), True)
    yield SampleInput(make.values([[1, 0], [1, 0], [0, 0], [1, 0]]), True, True, 0)
    yield SampleInput(make.values([[1, 0], [1, 0], [0, 0], [1, 0]]), dim=1)
    yield SampleInput(make(), True, True)
    yield SampleInput(make(0), True, True)
    yield SampleInput(make(0, 2), True, True, 0)
    if make.is_floating:
        yield SampleInput(make.values([_NAN, _NAN, 0.0, -0.0]), True, True)


@error_samples("unique_consecutive")
def unique_consecutive_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), dim=0), IndexError, "no dimensions")
    yield ErrorInput(SampleInput(make(0, 3), dim=1), RuntimeError, "0 sized")


@samples("isin")
def isin(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool:
        return
    elements = _repetitive(make, 4, 5)
    yield SampleInput(elements, make.values([0, 1]))
    yield SampleInput(elements, make.values([[1], [2]]), invert=True)
    yield SampleInput(_repetitive(make, 3, 4, layout="transposed"), _repetitive(make, 3), assume_unique=False)
    yield SampleInput(_repetitive(make, 20), _repetitive(make, 40))
    yield SampleInput(make(), make(3))
    yield SampleInput(make(3), make(0))
    yield SampleInput(make(3), make(0), invert=True)
    yield SampleInput(make(0), make(3))
    yield SampleInput(elements, make.integers(3, high=3))
    if make.is_floating:
        yield SampleInput(make.values([1.0, _NAN, _INF]), make.values([_NAN, _INF]))


@error_samples("isin")
def isin_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, dtype="bool"), make(2)), RuntimeError, "[Bb]ool")
    yield ErrorInput(SampleInput(make(2), make(2, dtype="complex64")), RuntimeError, "[Cc]omplex")


@samples("isin_scalar")
def isin_scalar(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool:
        return
    yield SampleInput(_repetitive(make, 4, 5), 1)
    yield SampleInput(_repetitive(make, 4), 1, invert=True)
    yield SampleInput(make(), 0)


@samples("isin_of_scalar")
def isin_of_scalar(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool:
        return
    yield SampleInput(1, _repetitive(make, 4, 5))
    yield SampleInput(1, make.values([1, 2]), invert=True)
    yield SampleInput(2, make(0))


# Binary search


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


# Counting


@samples("bincount")
def bincount(make: Make) -> Iterator[SampleInput]:
    if not make.is_integral:
        return
    numbers = make.values([1, 2, 2, 0, 5])
    yield SampleInput(numbers)
    yield SampleInput(numbers, minlength=8)
    yield SampleInput(numbers, make.tensor([0.5, 1.0, 2.0, 4.0, -1.0], "float32"))
    yield SampleInput(numbers, make.tensor([0.5, 1.0, 2.0, 4.0, -1.0], "float64"), 3)
    yield SampleInput(numbers, make.tensor([1, 2, 3, 4, 5], "int64"))
    yield SampleInput(numbers[::2])
    yield SampleInput(make(0), minlength=3)
    yield SampleInput(make(0))


@error_samples("bincount")
def bincount_errors(make: Make) -> Iterator[ErrorInput]:
    numbers = make.integers(3, high=4)
    yield ErrorInput(SampleInput(numbers, minlength=-1), RuntimeError, "-1")
    yield ErrorInput(SampleInput(make.tensor([1, -1], "int64")), RuntimeError, "-1")
    yield ErrorInput(SampleInput(make.tensor([[1]], "int64")), RuntimeError, "1-d")
    yield ErrorInput(SampleInput(numbers, make(2)), RuntimeError, "same length")


@samples("histc")
def histc(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating or make.requires_grad:
        return
    for tensor in (make(20), make(4, 5, layout="transposed"), make(6, 3, layout="strided")):
        yield SampleInput(tensor, 4, -2, 2)
        yield SampleInput(tensor, bins=3, min=-0.5, max=1.5)
    yield SampleInput(make.values([0.0, 0.25, 0.5, 0.75, 1.0]), 4)
    yield SampleInput(make.values([1.0, 1.0, 1.0]), 5)
    yield SampleInput(make.values([1.0, _NAN, _INF, 2.0]), 3, 0, 3)
    yield SampleInput(make(0), 3)
    yield SampleInput(make(0), 3, 1, 2)
    yield SampleInput(make(), 2, -3, 3)


@error_samples("histc")
def histc_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0), RuntimeError, "bins.*0")
    yield ErrorInput(SampleInput(make(3), 3, 2, 1), RuntimeError, "max")
    yield ErrorInput(SampleInput(make(3), 3, 0, _INF), RuntimeError, "inf")
    yield ErrorInput(SampleInput(make.values([1.0, _NAN]), 3), RuntimeError, "nan")


@samples("histogram_bins_tensor")
def histogram_bins_tensor(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64") or make.requires_grad:
        return
    edges = make.values([-2.0, -0.5, 0.0, 1.0])
    yield SampleInput(make(20), edges)
    yield SampleInput(make(4, 5, layout="transposed"), edges, density=True)
    yield SampleInput(make(4, 5), edges, weight=make(4, 5), density=False)
    yield SampleInput(make.values([-2.0, -0.5, 0.0, 1.0, 1.5, _NAN]), edges)
    yield SampleInput(make(0), edges)


@error_samples("histogram_bins_tensor")
def histogram_bins_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(2, 2)), RuntimeError, "one dimension")
    yield ErrorInput(SampleInput(make(3), make(0)), RuntimeError, "0 elements")
    yield ErrorInput(SampleInput(make(3), make.tensor([0, 1], "int64")), RuntimeError, "same dtype")
    yield ErrorInput(SampleInput(make(3), make(2), weight=make(2)), RuntimeError, "weight")


@samples("histogram_bin_ct")
def histogram_bin_ct(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64") or make.requires_grad:
        return
    yield SampleInput(make(20), 4)
    yield SampleInput(make(4, 5, layout="transposed"), 3, range=(-1.0, 1.0))
    yield SampleInput(make(4, 5), bins=3, range=(-1.0, 1.0), weight=make(4, 5, low=0.1), density=True)
    yield SampleInput(make.values([0.0, 0.25, 0.5, 0.75, 1.0]), 4)
    yield SampleInput(make.values([1.0, 1.0]), 4)
    yield SampleInput(make.values([1.0, _NAN]), 4, range=(0.0, 2.0))
    yield SampleInput(make(0), 4)


@error_samples("histogram_bin_ct")
def histogram_bin_ct_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0), RuntimeError, "bins.*0")
    yield ErrorInput(SampleInput(make(3), 3, range=(1.0, 0.0)), RuntimeError, "max")
    yield ErrorInput(SampleInput(make(3), 3, range=(1.0,)), RuntimeError, "2 elements")
    yield ErrorInput(SampleInput(make.values([1.0, _NAN]), 3), RuntimeError, "finite")
    yield ErrorInput(
        SampleInput(make(3), 3, weight=make.tensor([1, 2, 3], "int64")), RuntimeError, "same dtype"
    )


@samples("histogramdd")
def histogramdd(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64") or make.requires_grad:
        return
    yield SampleInput(make(20, 2), [3, 4])
    yield SampleInput(make(5, 4, 3), [2, 3, 2], weight=make(5, 4, low=0.1), density=True)
    yield SampleInput(make(20, 2), [3, 2], range=[-1.0, 1.0, 0.0, 1.5])
    yield SampleInput(make(7, 1), [3])


@error_samples("histogramdd")
def histogramdd_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), [2]), RuntimeError, "at least 2")
    yield ErrorInput(SampleInput(make(3, 2), [2]), RuntimeError, "bins")
    yield ErrorInput(SampleInput(make(3, 2), [2, 0]), RuntimeError, "bins.*0")
    yield ErrorInput(SampleInput(make(3, 2), [2, 2], range=[0.0, 1.0]), RuntimeError, "4 elements")


@samples("histogramdd_int_bins")
def histogramdd_int_bins(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64") or make.requires_grad:
        return
    yield SampleInput(make(20, 2), 3)
    yield SampleInput(make(20, 3), 2, range=[-1.0, 1.0, 0.0, 1.5, -2.0, 2.0])


@samples("histogramdd_tensor_bins")
def histogramdd_tensor_bins(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64") or make.requires_grad:
        return
    yield SampleInput(make(20, 2), [make.values([-1.0, 0.0, 2.0]), make.values([-2.0, -1.0, 0.5, 1.0])])
    yield SampleInput(make(20, 1), [make.values([-1.0, 0.0, 2.0])], weight=make(20, low=0.1), density=True)


@error_samples("histogramdd_tensor_bins")
def histogramdd_tensor_bins_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 2), [make(2)]), RuntimeError, "2 sequences")
