"""Samples of sequences of numbers: arange, range, linspace and logspace."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("factory_arange")
def factory_arange(make: Make) -> Iterator[SampleInput]:
    for end in (5, 0, 2.5, 1):
        yield SampleInput(end)
        yield SampleInput(end, dtype=make.dtype)


@samples("factory_arange_start")
def factory_arange_start(make: Make) -> Iterator[SampleInput]:
    for start, end in ((1, 5), (2, 2), (-1.5, 2), (0.0, 3)):
        yield SampleInput(start, end)
    yield SampleInput(1, 5, dtype=make.dtype)


@samples("factory_arange_step")
def factory_arange_step(make: Make) -> Iterator[SampleInput]:
    for start, end, step in ((1, 8, 3), (5, 0, -2), (0, 1, 0.1), (2, 2, 1), (0.0, 1.0, 0.3), (0, 70, 1)):
        yield SampleInput(start, end, step)
    yield SampleInput(1, 8, 2, dtype=make.dtype)


@error_samples("factory_arange_step")
def factory_arange_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, 1, 0), RuntimeError, "step")
    yield ErrorInput(SampleInput(0, 1, -1), RuntimeError, "step|bound")
    yield ErrorInput(SampleInput(0, float("inf"), 1), RuntimeError, "inf")
    yield ErrorInput(SampleInput(0, float("nan"), 1), RuntimeError, "nan")


@samples("factory_linspace")
def factory_linspace(make: Make) -> Iterator[SampleInput]:
    for start, end, steps in ((0, 1, 5), (3.0, -3.0, 4), (2, 7, 1), (0, 1, 0), (-1, 1, 77)):
        yield SampleInput(start, end, steps)
    if make.is_inexact:
        yield SampleInput(0, 5, 6, dtype=make.dtype)


@error_samples("factory_linspace")
def factory_linspace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, 1, -1), RuntimeError, "steps|-1")


def _takes_sequences(make: Make) -> bool:
    return not make.is_bool and not make.is_complex


@samples("range")
def range_(make: Make) -> Iterator[SampleInput]:
    for start, end in ((1, 4), (0.5, 3), (2, 2), (-2.5, 1)):
        yield SampleInput(start, end)
    if _takes_sequences(make):
        yield SampleInput(1, 4, dtype=make.dtype)


@samples("range_step")
def range_step(make: Make) -> Iterator[SampleInput]:
    for start, end, step in ((1, 8, 3), (5, 0, -2), (0, 1, 0.25), (2, 2, 1), (1, 2, 0.3)):
        yield SampleInput(start, end, step)
    if _takes_sequences(make):
        yield SampleInput(1, 8, 2, dtype=make.dtype)


@error_samples("range_step")
def range_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, 1, 0), RuntimeError, "step")
    yield ErrorInput(SampleInput(0, 1, -1), RuntimeError, "step|bound")
    yield ErrorInput(SampleInput(0, float("inf"), 1), RuntimeError, "inf")


_BOUNDS = ((0, 1, 5), (3.0, -3.0, 4), (2, 7, 1), (0, 1, 0))


@samples("linspace_tensor_tensor", True, True)
@samples("logspace_tensor_tensor", True, True)
@samples("linspace_tensor_scalar", True, False)
@samples("logspace_tensor_scalar", True, False)
@samples("linspace_scalar_tensor", False, True)
@samples("logspace_scalar_tensor", False, True)
def _bounds(make: Make, start_is_tensor: bool, end_is_tensor: bool) -> Iterator[SampleInput]:
    for start, end, steps in _BOUNDS:
        first = make.tensor(start, "float32") if start_is_tensor else start
        last = make.tensor(end, "int64") if end_is_tensor else end
        yield SampleInput(first, last, steps)
        yield SampleInput(first, last, steps, dtype=make.torch.float64)


def _bound_errors(make: Make, first: bool) -> Iterator[ErrorInput]:
    vector = make.tensor([0.0], "float32")
    yield ErrorInput(
        SampleInput(vector if first else 0, 1 if first else vector, 3), RuntimeError, "0-dim.*1 dim"
    )


@error_samples("linspace_tensor_scalar", "logspace_tensor_scalar")
def first_bound_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _bound_errors(make, True)


@error_samples("linspace_scalar_tensor", "logspace_scalar_tensor")
def last_bound_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _bound_errors(make, False)


@samples("logspace")
def logspace(make: Make) -> Iterator[SampleInput]:
    for start, end, steps in _BOUNDS:
        yield SampleInput(start, end, steps, dtype=make.torch.float64)
    yield SampleInput(0, 3, 4)
    yield SampleInput(0, 3, 4, 2.0)
    yield SampleInput(-1.5, 2, 5, base=0.5)
    yield SampleInput(0, 3, 4, dtype=make.torch.int64)
    # Integers lose the fractions of the bounds first.
    yield SampleInput(0.9, 2.7, 6, dtype=make.torch.int32)
    yield SampleInput(0, 4, 7, 2.9, dtype=make.torch.int16)
    yield SampleInput(1.5, 2, 1, 2.5, dtype=make.torch.int64)
    if make.is_inexact:
        yield SampleInput(0, 1, 3, dtype=make.dtype)


@error_samples("logspace")
def logspace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, 1, -1), RuntimeError, "steps")
