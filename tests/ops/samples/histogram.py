"""Samples of histograms and counts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")
_INF = float("inf")


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
    yield ErrorInput(SampleInput(make.tensor([2**63 - 1], "int64")), RuntimeError, "maximum value of input")
    yield ErrorInput(SampleInput(numbers, minlength=2**62), RuntimeError, "Storage size")


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
