"""Samples of resize_ and set_."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


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


@samples("set_")
def set_(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3))
        yield SampleInput(make())


@samples("set_window")
def set_window(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(12), 2, (2, 3))
        yield SampleInput(make(2), make(3, 4), 1, (3, 2), (1, 3))
        yield SampleInput(make(2), make(3), 0, ())


@error_samples("set_window")
def set_window_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(4), 0, (5,)), RuntimeError, "bytes|bounds")
    yield ErrorInput(SampleInput(make(2), make(4), -1, (2,)), RuntimeError, "offset")
    yield ErrorInput(SampleInput(make(2), make(4), 0, (2,), (1, 1)), RuntimeError, "mismatch in length")


@samples("set_tensor")
def set_tensor(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(4))
        yield SampleInput(make(2, 3), make(3, 2, layout="transposed"))


@error_samples("set_tensor")
def set_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "dtype|float|Double|type")


@samples("resize_as_")
def resize_as_(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(3, 2))
        yield SampleInput(make(2, 3), make(4))
        yield SampleInput(make(2, 3), make())
