"""Copies, conversions, in-place writes of whole tensors."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_DTYPES = (
    "float32",
    "float64",
    "bfloat16",
    "float16",
    "int64",
    "int32",
    "uint8",
    "int8",
    "bool",
    "complex64",
    "complex128",
)


def _targets(make: Make) -> tuple[str, ...]:
    if make.requires_grad:
        return ("complex128", "complex64") if make.is_complex else ("float64", "float32", "complex128")
    # A complex number loses its imaginary part with a warning; what a float out of range becomes is not
    # defined.
    return ("complex64", "complex128") if make.is_complex else _DTYPES


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
        for dtype in _targets(make):
            yield SampleInput(make(2, 3), make(3, dtype=dtype, low=0.0))


@error_samples("copy")
def copy_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(4)), RuntimeError, "3.*4|4.*3")
    yield ErrorInput(SampleInput(make(3), make(2, 3)), RuntimeError, "2")


@samples("to_dense")
def to_dense(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(
        make(2, 3, layout="transposed"), make.torch.complex128 if make.is_complex else make.torch.float64
    )
    yield SampleInput(make(), make.dtype, masked_grad=True)
    yield SampleInput(make(0))


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


# Conversions


@samples("to_dtype")
def to_dtype(make: Make) -> Iterator[SampleInput]:
    for dtype in _targets(make):
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


# Memory


@samples("resize")
def resize(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3), (3, 2))
        yield SampleInput(make(2, 3), (2,))
        yield SampleInput(make(2, 3), (0,))
        yield SampleInput(make(2, 3), ())


@error_samples("resize")
def resize_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), (-1,)), RuntimeError, "-1")


@samples("set_tensor")
def set_tensor(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(4))
        yield SampleInput(make(2, 3), make(3, 2, layout="transposed"))


@error_samples("set_tensor")
def set_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "dtype|float|Double|type")
