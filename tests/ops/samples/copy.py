"""Samples of copies and in-place fills."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.dtypes import targets
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("copy")
def copy(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(3, 4))
    yield SampleInput(make(3, 4), make(4))
    yield SampleInput(make(3, 4), make())
    yield SampleInput(make(0, 4), make(4))
    yield SampleInput(make(), make())
    yield SampleInput(make(3, 4, layout="transposed"), make(3, 4))
    yield SampleInput(make(3, 4), make(3, 4, layout="transposed"))
    yield SampleInput(make(3, 4, layout="strided"), make(3, 4, layout="strided"))

    if not make.requires_grad:
        yield SampleInput(make(40, 35), make(40, 35, layout="transposed"))
        for dtype in targets(make):
            yield SampleInput(make(2, 3), make(3, dtype=dtype, low=0.0))


@error_samples("copy")
def copy_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(4)), RuntimeError, "3.*4|4.*3")
    yield ErrorInput(SampleInput(make(3), make(2, 3)), RuntimeError, "2")


@samples("fill")
def fill(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(), make(0), make(71), *make.layouts(3, 4)):
        if 0 not in tensor.stride() or tensor.numel() < 2:
            yield SampleInput(tensor, 1)
    yield SampleInput(make(3), 1.5 if make.is_inexact else True)


@error_samples("fill")
def fill_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 1j), RuntimeError, "complex|convert|overflow")


@samples("fill_tensor")
def fill_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make())
    yield SampleInput(make(3, 4, layout="transposed"), make())


@error_samples("fill_tensor")
def fill_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(1)), RuntimeError, "0-dim|dim")


@samples("zero")
def zero(make: Make) -> Iterator[SampleInput]:
    for sample in fill(make):
        yield SampleInput(sample.input)
