"""Samples of layer, group and RMS normalization."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("rms_norm")
def rms_norm(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(3, 4), (4,), None, 1e-5)
    yield SampleInput(make(3, 4), (4,), make(4), 1e-5)
    yield SampleInput(make(2, 3, 4), (3, 4), make(3, 4))
    yield SampleInput(make(4, 3, layout="transposed"), (3,), make(3), 1e-3)
    yield SampleInput(make(0, 4), (4,), None, 1e-5)


@error_samples("rms_norm")
def rms_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), (3,)), RuntimeError, "normalized_shape")
    yield ErrorInput(SampleInput(make(3, 4), ()), RuntimeError, "normalized_shape")
    yield ErrorInput(SampleInput(make(3, 4), (4,), make(3)), RuntimeError, "weight")


@samples("layer_norm")
def layer_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 5), (5,))
    yield SampleInput(make(2, 5), (5,), make(5), make(5))
    yield SampleInput(make(2, 3, 4), (3, 4), make(3, 4), None, 1e-3)
    yield SampleInput(make(4, 3, layout="transposed"), [3], None, make(3))
    yield SampleInput(make(0, 3), (3,), make(3), make(3))


@error_samples("layer_norm")
def layer_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (4,)), RuntimeError, "4")
    yield ErrorInput(SampleInput(make(2, 3), (3,), make(2)), RuntimeError, "weight|2")
    yield ErrorInput(SampleInput(make(2, 3), ()), RuntimeError, "normalized_shape")


@samples("group_norm")
def group_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 4), 2)
    yield SampleInput(make(2, 4, 3), 2, make(4), make(4))
    yield SampleInput(make(2, 4, 2, 2), 4, make(4), None, 1e-3)
    yield SampleInput(make(2, 4, 3, layout="transposed"), 1, None, make(4))


@error_samples("group_norm")
def group_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 4), 3), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(2, 4), 2, make(3)), RuntimeError, "weight|3")


@samples("native_layer_norm")
def native_layer_norm(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 5), (5,), None, None, 1e-5)
    yield SampleInput(make(2, 5), (5,), make(5), make(5), 1e-5)
    yield SampleInput(make(2, 3, 4), (3, 4), make(3, 4), None, 1e-3)
    yield SampleInput(make(4, 3, layout="transposed"), [3], None, make(3), 1e-5)


@error_samples("native_layer_norm")
def native_layer_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (4,), None, None, 1e-5), RuntimeError, "4")
    yield ErrorInput(SampleInput(make(2, 3), (3,), make(2), None, 1e-5), RuntimeError, "weight|2")


@samples("native_group_norm")
def native_group_norm(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 4), None, None, 2, 4, 1, 2, 1e-3)
    yield SampleInput(make(2, 4, 3), make(4), make(4), 2, 4, 3, 2, 1e-5)
    yield SampleInput(make(2, 4, 2, 2), make(4), None, 2, 4, 4, 4, 1e-3)
    yield SampleInput(make(2, 4, 3), None, make(4), 2, 4, 3, 1, 1e-5)


@error_samples("native_group_norm")
def native_group_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 4), None, None, 2, 4, 1, 3, 1e-5), RuntimeError, "divisible")
    yield ErrorInput(SampleInput(make(2, 4), None, None, 2, 4, 3, 2, 1e-5), RuntimeError, "N . C . HxW")
    yield ErrorInput(SampleInput(make(2, 4), make(3), None, 2, 4, 1, 2, 1e-5), RuntimeError, "weight")
