"""Samples of products of matrices of 8 bits."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("_int_mm")
def _int_mm(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "int8", "uint8") or make.requires_grad:
        return
    left = {"dtype": "uint8" if make.dtype_name == "uint8" else "int8"}
    right = {"dtype": "int8"}
    yield SampleInput(make(2, 3, **left), make(3, 4, **right))
    yield SampleInput(make(2, 3, layout="transposed", **left), make(3, 4, layout="transposed", **right))
    yield SampleInput(make(3, 6, layout="strided", **left), make(6, 2, layout="strided", **right))
    yield SampleInput(make(2, 0, **left), make(0, 3, **right))
    yield SampleInput(make(0, 2, **left), make(2, 3, **right))
    yield SampleInput(make(1, 70, **left), make(70, 1, **right))
    yield SampleInput(make(33, 17, **left), make(17, 67, **right))


@error_samples("_int_mm")
def _int_mm_errors(make: Make) -> Iterator[ErrorInput]:
    left, right = make(2, 3, dtype="int8"), make(3, 4, dtype="int8")
    yield ErrorInput(SampleInput(left[0], right), RuntimeError, "self to be of dimension 2 but got 1")
    yield ErrorInput(SampleInput(left, left), RuntimeError, "needs to match mat2.size\\(0\\) but got 3 and 2")
    yield ErrorInput(SampleInput(left.int(), right), RuntimeError, "self dtype to be int8 or uint8")
    yield ErrorInput(SampleInput(left, right.float()), RuntimeError, "mat2 dtype to be of type int8")


@samples("_weight_int8pack_mm")
def _weight_int8pack_mm(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float16", "bfloat16", "float32") or make.requires_grad:
        return
    for rows, inner, outputs in ((1, 32, 16), (3, 32, 32), (17, 32, 48), (0, 32, 16)):
        yield SampleInput(make(rows, inner), make(outputs, inner, dtype="int8"), make(outputs))


@error_samples("_weight_int8pack_mm")
def _weight_int8pack_mm_errors(make: Make) -> Iterator[ErrorInput]:
    inputs, scales = make(3, 32, dtype="float32"), make(16, dtype="float32")
    weight = make(16, 32, dtype="int8")
    yield ErrorInput(SampleInput(inputs.double(), weight, scales), RuntimeError, "32-bit or 16-bit float")
    yield ErrorInput(SampleInput(inputs, weight.int(), scales), RuntimeError, "B to be int8")
    yield ErrorInput(SampleInput(inputs, weight[:, 1:], scales), RuntimeError, "B.size\\(1\\) == 32")
    yield ErrorInput(SampleInput(inputs, weight, scales[1:]), RuntimeError, "1d tensor with size 16")
    yield ErrorInput(SampleInput(inputs, weight, scales.half()), RuntimeError, "expected scalar type")
