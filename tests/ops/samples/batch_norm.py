"""Samples of batch and instance normalization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("instance_norm")
def instance_norm(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 3, 5), None, None, None, None, True, 0.1, 1e-5, False)
    yield SampleInput(make(2, 3, 2, 2), make(3), make(3), None, None, True, 0.1, 1e-3, False)
    running = make(3, requires_grad=False), make(3, low=0.5, high=2.0, requires_grad=False)
    yield SampleInput(make(2, 3, 4), make(3), make(3), *running, False, 0.1, 1e-5, False)


@error_samples("instance_norm")
def instance_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 3, 4), None, None, None, None, False, 0.1, 1e-5, False),
        RuntimeError,
        "running_mean",
    )


def _statistics(make: Make, channels: int) -> tuple[Any, Any]:
    mean = make(channels, requires_grad=False)
    return mean, make(channels, low=0.5, high=2.0, requires_grad=False)


@samples("batch_norm")
def batch_norm(make: Make) -> Iterator[SampleInput]:
    """Samples of batch normalisation.

    Samples with gradients have no running statistics in training, as every evaluation would write to them.
    """
    for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 2)):
        weight, bias = make(3, low=0.5, high=1.5), make(3)
        yield SampleInput(make(*shape), weight, bias, None, None, True, 0.1, 1e-5, False)
        yield SampleInput(make(*shape), None, None, *_statistics(make, 3), False, 0.1, 1e-5, False)
        yield SampleInput(make(*shape), weight, bias, *_statistics(make, 3), False, 0.1, 1e-3, False)

    if not make.requires_grad:
        yield SampleInput(make(0), None, None, None, None, True, 0.1, 1e-5, False)
        yield SampleInput(make(4, 3), make(3), make(3), *_statistics(make, 3), True, 0.3, 1e-5, False)
        for shape, training in (((2, 3, 2, 2), True), ((2, 3, 5, 4), False)):
            x = make(*shape, layout="channels_last")
            yield SampleInput(x, make(3), make(3), *_statistics(make, 3), training, 0.1, 1e-5, False)


@error_samples("batch_norm")
def batch_norm_errors(make: Make) -> Iterator[ErrorInput]:
    rest = (True, 0.1, 1e-5, False)
    yield ErrorInput(SampleInput(make(4, 3), make(2), None, None, None, *rest), RuntimeError, "weight|3")
    yield ErrorInput(
        SampleInput(make(4, 3), None, None, make(2), make(2), *rest), RuntimeError, "running_mean|3"
    )
    yield ErrorInput(
        SampleInput(make(4, 3), None, None, None, None, False, 0.1, 1e-5, False), RuntimeError, "running"
    )


def _with_statistics(make: Make, *options: Any) -> Iterator[SampleInput]:
    for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 2)):
        weight, bias = make(3, low=0.5, high=1.5), make(3)
        yield SampleInput(make(*shape), weight, bias, *_statistics(make, 3), *options)
        yield SampleInput(make(*shape), None, None, *_statistics(make, 3), *options)


@samples("native_batch_norm")
def native_batch_norm(make: Make) -> Iterator[SampleInput]:
    """Running statistics are in evaluation only, as every evaluation of a gradient would write to them."""
    if not make.is_floating:
        return
    yield from _with_statistics(make, False, 0.1, 1e-5)
    yield SampleInput(make(2, 3, 4), make(3), make(3), None, None, True, 0.1, 1e-3)
    yield SampleInput(make(4, 3), None, None, None, None, True, 0.1, 1e-5)
    if not make.requires_grad:
        yield from _with_statistics(make, True, 0.3, 1e-5)


@error_samples("native_batch_norm")
def native_batch_norm_errors(make: Make) -> Iterator[ErrorInput]:
    rest = (True, 0.1, 1e-5)
    yield ErrorInput(
        SampleInput(make(4, 3), None, None, make(2), make(2), *rest), RuntimeError, "running_mean|3"
    )
    yield ErrorInput(SampleInput(make(0, 3), None, None, None, None, *rest), RuntimeError, "at least one")


@samples("_native_batch_norm_legit")
def _native_batch_norm_legit(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield from _with_statistics(make, False, 0.1, 1e-5)
    if not make.requires_grad:
        yield from _with_statistics(make, True, 0.3, 1e-5)


@samples("_native_batch_norm_legit_no_stats")
def _native_batch_norm_legit_no_stats(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 3, 4), make(3), make(3), True, 0.1, 1e-3)
    yield SampleInput(make(2, 3, 2, 2), None, None, True, 0.1, 1e-5)


@samples("_native_batch_norm_legit_no_training")
def _native_batch_norm_legit_no_training(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield from _with_statistics(make, 0.1, 1e-5)


@samples("batch_norm_with_update")
def batch_norm_with_update(make: Make) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield from _with_statistics(make, 0.3, 1e-5)


@samples("batch_norm_update_stats")
def batch_norm_update_stats(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64"):
        return
    yield SampleInput(make(2, 3, 4), None, None, 0.1)
    yield SampleInput(make(4, 3), None, None, 0.1)
    if not make.requires_grad:
        yield SampleInput(make(2, 3, 2, 2), *_statistics(make, 3), 0.3)


@error_samples("batch_norm_update_stats")
def batch_norm_update_stats_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 3), make(2), make(2), 0.1), RuntimeError, "running_mean|3")
    yield ErrorInput(SampleInput(make(0, 3), None, None, 0.1), RuntimeError, "at least one element")
