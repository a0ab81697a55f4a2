"""Samples of quantiles."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@samples("quantile")
def quantile(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64"):
        return

    several = make.values([0.0, 0.3, 0.5, 1.0])
    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, several.detach())
        yield SampleInput(tensor, several.detach(), 0)
        yield SampleInput(tensor, several[1].detach(), -1, True)

    for interpolation in _INTERPOLATIONS:
        yield SampleInput(make(4, 5, distinct=True), several.detach(), 1, interpolation=interpolation)

    yield SampleInput(make(3, 4, distinct=True), make.values([0.2, 0.7]), 1)  # also differentiable in q
    yield SampleInput(make(), several.detach(), 0)
    yield SampleInput(make(2, 3), several.detach()[:0], 1)
    yield SampleInput(make(2, 3, distinct=True), several.detach(), None, True)

    if not make.requires_grad:
        yield SampleInput(make.values([[3.0, _NAN, 1.0], [1.0, 2.0, 5.0], [_NAN, _NAN, _NAN]]), several, 1)
        yield SampleInput(make.values([[3.0, _NAN, 1.0], [1.0, 2.0, 5.0], [_NAN, _NAN, _NAN]]), several)


@error_samples("quantile")
def quantile_errors(make: Make) -> Iterator[ErrorInput]:
    q = make.values([0.5])
    yield ErrorInput(SampleInput(make(0), q), RuntimeError, "non-empty")
    yield ErrorInput(SampleInput(make(2, dtype="int64"), q), RuntimeError, "float or double")
    yield ErrorInput(SampleInput(make(2), make.values([0.5], "float64")), RuntimeError, "same dtype")
    yield ErrorInput(SampleInput(make(2), make.values([[0.5]])), RuntimeError, "1D")
    yield ErrorInput(SampleInput(make(2), make.values([1.5])), RuntimeError, "range")
    yield ErrorInput(SampleInput(make(2), make.values([_NAN])), RuntimeError, "range")
    yield ErrorInput(SampleInput(make(2), q, 1), IndexError, "1")
    yield ErrorInput(SampleInput(make(2), q, interpolation="cubic"), RuntimeError, "cubic")


@samples("quantile_scalar")
def quantile_scalar(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64"):
        return

    for tensor in tensors(make, distinct=True):
        yield SampleInput(tensor, 0.4)
        yield SampleInput(tensor, 0.75, 0)
        yield SampleInput(tensor, 1, -1, True)

    for interpolation in _INTERPOLATIONS:
        yield SampleInput(make(4, 5, distinct=True), 0.5, 1, interpolation=interpolation)
        yield SampleInput(make(4, 5, distinct=True), 0.6, interpolation=interpolation)

    yield SampleInput(make(), 0.5)

    if not make.requires_grad:
        yield SampleInput(make.values([[3.0, _NAN, 1.0], [1.0, 2.0, 5.0], [_NAN, _NAN, _NAN]]), 0.4, 1)
        for q in (0.25, 0.5, 0.75, 1.0):
            yield SampleInput(make.values([-float("inf"), 2.0, float("inf")]), q)


@error_samples("quantile_scalar")
def quantile_scalar_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 1.5), RuntimeError, "1.5")
    yield ErrorInput(SampleInput(make(2), -0.5, 0), RuntimeError, "-0.5")
    yield ErrorInput(SampleInput(make(0, 2), 0.5, 1), RuntimeError, "non-empty")
