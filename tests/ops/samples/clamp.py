"""Samples of clamp, with numbers and tensors as bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples
from tests.ops.samples.unary import tensors


def _limits(make: Make) -> tuple[Any, Any]:
    return (-1, 2) if make.is_integral else (-0.7, 1.1)


@samples("clamp")
def clamp(make: Make) -> Iterator[SampleInput]:
    low, high = _limits(make)
    away = (low, high)
    for tensor in tensors(make, away_from=away):
        yield SampleInput(tensor, low, high)
    yield SampleInput(make(2, 3, away_from=away), low)
    yield SampleInput(make(2, 3, away_from=away), max=high)
    yield SampleInput(make(2, 3, away_from=away), high, low)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), -0.5, 1.5)
        yield SampleInput(make.extremes() if make.is_floating else make(4), 0, 1)


@error_samples("clamp", "clamp_tensor")
def clamp_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "min.*max")


@samples("clamp_min")
def clamp_min(make: Make) -> Iterator[SampleInput]:
    low, _ = _limits(make)
    for tensor in tensors(make, away_from=(low,)):
        yield SampleInput(tensor, low)


@samples("clamp_max")
def clamp_max(make: Make) -> Iterator[SampleInput]:
    _, high = _limits(make)
    for tensor in tensors(make, away_from=(high,)):
        yield SampleInput(tensor, high)


@samples("clamp_tensor")
def clamp_tensor(make: Make) -> Iterator[SampleInput]:
    def limit(low: float, high: float, *shape: int) -> Any:
        return make(*shape, low=low, high=high)

    yield SampleInput(make(2, 3, low=-3.0, high=3.0), limit(-1.4, -0.6, 2, 3), limit(0.6, 1.4, 2, 3))
    yield SampleInput(make(2, 3), limit(-1.0, -0.5, 3), limit(0.5, 1.0, 2, 1))
    yield SampleInput(make(2, 3), limit(-1.0, 0.0))
    yield SampleInput(make(2, 3), max=limit(-1.0, 0.0, 3))
    yield SampleInput(make(0, 3), limit(-1.0, 0.0, 3), limit(0.0, 1.0, 3))


@samples("clamp_bound")
def clamp_bound(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0, 3)):
        yield SampleInput(make(*shape, low=-3.0, high=3.0), make(*shape, low=-0.4, high=0.4))
    yield SampleInput(make(2, 3), make(3, low=-0.4, high=0.4))
    yield SampleInput(make(2, 3), make(low=-0.4, high=0.4))
    yield SampleInput(make(2, 1, low=-3.0, high=3.0), make(1, 3, low=-0.4, high=0.4))
    yield from with_extremes(make)


def with_extremes(make: Make) -> Iterator[SampleInput]:
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(-1, 1), make.extremes())
