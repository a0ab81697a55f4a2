"""Samples of activation functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples
from tests.ops.samples.unary import tensors, unary_samples


@samples("activation")
def activation(make: Make) -> Iterator[SampleInput]:
    """Samples with various keywords, of which an operator takes those it knows.

    Values keep clear of all kinks.
    """
    kinks = (-3, -1, 0, 1, 3)
    yield from unary_samples(make, low=-4.0, high=4.0, away_from=kinks)
    away: dict[str, Any] = {"low": -4.0, "high": 4.0, "away_from": (-3, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3)}
    yield SampleInput(make(2, 3, **away), negative_slope=0.3)
    yield SampleInput(make(2, 3, **away), alpha=1.7)
    yield SampleInput(make(2, 3, **away), alpha=1.7, scale=1.1, input_scale=0.5)
    yield SampleInput(make(2, 3, **away), beta=2)
    yield SampleInput(make(2, 3, **away), beta=1.0, threshold=2)
    yield SampleInput(make(2, 3, **away), min_val=-0.5, max_val=2)
    yield SampleInput(make(2, 3, **away), min_val=0.5 if make.is_inexact else 1, max_val=2)


@samples("gelu")
def gelu(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make)
    yield SampleInput(make(2, 3), approximate="none")
    yield SampleInput(make(2, 3), approximate="tanh")


@error_samples("gelu")
def gelu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), approximate="cubic"), RuntimeError, "approximate|cubic")


@samples("celu")
def celu(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=-4.0, high=4.0, away_from=(0,))
    yield SampleInput(make(2, 3, away_from=(0,)), 1.7)
    yield SampleInput(make(2, 3, away_from=(0,)), alpha=0.3)


@error_samples("celu")
def celu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0), RuntimeError, "alpha cannot be 0")


@samples("shrink")
def shrink(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(-0.5, 0.5))
    yield SampleInput(make(2, 3, away_from=(-0.8, 0.8)), 0.8)
    yield SampleInput(make(2, 3, away_from=(0,)), lambd=0)


@samples("threshold")
def threshold(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(1,)):
        yield SampleInput(tensor, 1, 2)
    if make.is_floating:
        yield SampleInput(make(2, 3, away_from=(-0.5,)), -0.5, 0.25)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), 0, -1)


@samples("glu")
def glu(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 4))
    yield SampleInput(make(4, 3), 0)
    yield SampleInput(make(2), dim=0)
    yield SampleInput(make(3, 0))
    yield SampleInput(make(2, 4, 3, layout="transposed"), 1)
    yield SampleInput(make(3, 6, layout="strided"), -1)


@error_samples("glu")
def glu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "even.*3")
    yield ErrorInput(SampleInput(make()), RuntimeError, "scalars")
    yield ErrorInput(SampleInput(make(2, 4), 2), IndexError, "2")


@samples("prelu")
def prelu(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0,)), make(1))
    yield SampleInput(make(2, 3, away_from=(0,)), make())
    yield SampleInput(make(2, 3, away_from=(0,)), make(3))
    yield SampleInput(make(2, 3, 4, away_from=(0,)), make(3))
    yield SampleInput(make(away_from=(0,)), make(1))
    yield SampleInput(make(0, 3), make(3))
    yield SampleInput(make(2, 3, 4, away_from=(0,), layout="transposed"), make(3, layout="strided"))


@error_samples("prelu")
def prelu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2)), RuntimeError, "2.*3")
    yield ErrorInput(SampleInput(make(2, 3), make(1, 3)), RuntimeError, "ndim = 2")
    yield ErrorInput(SampleInput(make(2, 3), make(3, dtype="float64")), RuntimeError, "Float and Double")
    yield ErrorInput(SampleInput(make(), make(2)), RuntimeError, "zero-dim")


@samples("rrelu")
def rrelu(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(0,))
    yield SampleInput(make(2, 3, away_from=(0,)), 0.1, 0.5)


@error_samples("rrelu")
def rrelu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0.5, 0.1), RuntimeError, "[Ll]ower bound")
