"""Samples of conversions between dtypes and devices, and to Python numbers."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.dtypes import targets
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("to_dense")
def to_dense(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(
        make(2, 3, layout="transposed"), make.torch.complex128 if make.is_complex else make.torch.float64
    )
    yield SampleInput(make(), make.dtype, masked_grad=True)
    yield SampleInput(make(0))


@samples("to_dtype")
def to_dtype(make: Make) -> Iterator[SampleInput]:
    for dtype in targets(make):
        yield SampleInput(make(2, 3, low=0.0), getattr(make.torch, dtype))
        yield SampleInput(make(2, 3, low=0.0, layout="transposed"), getattr(make.torch, dtype))
    yield SampleInput(make(2, 3), make.dtype, False, True)
    yield SampleInput(make(), make.dtype)


@samples("to_device")
def to_device(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make.torch.device("cpu"))
    yield SampleInput(make(2, 3), "cpu", make.torch.complex128 if make.is_complex else make.torch.float64)
    yield SampleInput(make(2, 3, layout="strided"), "cpu", None, False, True)


@samples("to_other")
def to_other(make: Make) -> Iterator[SampleInput]:
    for dtype in ("complex128",) if make.is_complex else ("float64", "float32"):
        yield SampleInput(make(2, 3), make(1, dtype=dtype, requires_grad=False))


@samples("to_keywords")
def to_keywords(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), dtype=make.torch.complex128 if make.is_complex else make.torch.float64)
    yield SampleInput(make(2, 3), device="cpu")
    yield SampleInput(make(2, 3), dtype=make.dtype, copy=True)


@samples("item")
def item(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make())
    yield SampleInput(make(1))
    yield SampleInput(make(1, 1, 1))


@error_samples("item")
def item_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "2")
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "0")


@samples("is_nonzero")
def is_nonzero(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(requires_grad=False))
    yield SampleInput(make.values([0]).detach())
    yield SampleInput(make(1, 1, requires_grad=False))


@error_samples("is_nonzero")
def is_nonzero_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "more than one")
    yield ErrorInput(SampleInput(make(0)), RuntimeError, "no values")
