"""Samples of dropout."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples
from tests.ops.samples.unary import tensors


@samples("feature_dropout")
def feature_dropout(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 3, 4), 0.5, False)
    yield SampleInput(make(2, 3, 4), 0.0, True)
    yield SampleInput(make(2, 3), 1.0, True)


@error_samples("feature_dropout")
def feature_dropout_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 1.5, True), RuntimeError, "1.5")


@samples("dropout")
def dropout(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, 0.4, False)
        yield SampleInput(tensor, 0.0, True)
        yield SampleInput(tensor, 1.0, True)


@error_samples("dropout")
def dropout_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 1.5, True), RuntimeError, "1.5")
    yield ErrorInput(SampleInput(make(2), -0.1, False), RuntimeError, "-0.1")


@samples("native_dropout")
def native_dropout(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    for tensor in tensors(make):
        yield SampleInput(tensor, 0.4, False)
        yield SampleInput(tensor, 0.0, True)
        yield SampleInput(tensor, 1.0, None)


@error_samples("native_dropout")
def native_dropout_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 1.5, True), RuntimeError, "-0.5")


@samples("native_dropout_backward")
def native_dropout_backward(make: Make) -> Iterator[SampleInput]:
    if make.is_complex:
        return
    yield SampleInput(make(3, 4), make.booleans(3, 4), 2.0)
    yield SampleInput(make(3, 4, layout="transposed"), make.booleans(3, 4), 1.25)
    yield SampleInput(make(0), make.booleans(0), 1.0)
