"""Samples of special functions, each over the range where it is interesting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples
from tests.ops.samples.unary import tensors, unary_samples


@samples("unary_probability")
def unary_probability(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=0.05, high=0.95)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([0.0, 1.0, 1e-4, 0.01, 0.09, 0.11, 0.5, 0.89, 0.91, 0.99, -0.1, 1.1]))


@samples("logit")
def logit(make: Make) -> Iterator[SampleInput]:
    inside: dict[str, Any] = {"low": 0.1, "high": 0.9}
    yield from unary_samples(make, **inside)
    yield SampleInput(make(2, 3, **inside), 0.01)
    yield SampleInput(make(2, 3, low=-0.5, high=1.5, away_from=(0.2, 0.8)), eps=0.2)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes(), 0.1)
        yield SampleInput(make.values([0.0, 1.0]))


@samples("zeta")
def zeta(make: Make) -> Iterator[SampleInput]:
    """Samples without a gradient for the exponent."""
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(
            make(*shape, low=1.5, high=4.0, requires_grad=False), make(*shape, low=0.3, high=4.0)
        )

    yield SampleInput(
        make(2, 1, low=2.0, high=4.0, requires_grad=False), make(3, low=0.5, high=3.0, layout="strided")
    )
    yield SampleInput(2, make(2, 3, low=0.5, high=3.0))
    yield SampleInput(make(2, 3, low=2.0, high=4.0, requires_grad=False), 1.5)

    if make.is_floating and not make.requires_grad:
        yield SampleInput(
            make.values([1.0, 0.5, 2.0, 2.5, 3.0, 2.0]), make.values([1.0, 1.0, 0.0, -0.5, -0.5, -1.0])
        )


@samples("polygamma")
def polygamma(make: Make) -> Iterator[SampleInput]:
    for order in range(4):
        for tensor in tensors(make, low=0.3, high=4.0):
            yield SampleInput(order, tensor)
    if make.is_floating:
        yield SampleInput(1, make.values([-0.5, -1.25, -7.75, 0.25, 20.5]))


@samples("polygamma_inplace")
def polygamma_inplace(make: Make) -> Iterator[SampleInput]:
    for order in (0, 1, 2):
        yield SampleInput(make(2, 3, low=0.5, high=3.0), order)


@error_samples("polygamma")
def polygamma_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1, make(2)), RuntimeError, "negative n")


@samples("mvlgamma")
def mvlgamma(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, low=1.6, high=5.0):
        yield SampleInput(tensor, 1)
        yield SampleInput(tensor, 4)


@error_samples("mvlgamma")
def mvlgamma_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0), RuntimeError, "greater than or equal to 1")


@samples("incomplete_gamma")
def incomplete_gamma(make: Make) -> Iterator[SampleInput]:
    """Samples without a gradient for the first argument."""
    positive: dict[str, Any] = {"low": 0.3, "high": 4.0}
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(make(*shape, requires_grad=False, **positive), make(*shape, **positive))
    yield SampleInput(make(2, 1, requires_grad=False, **positive), make(3, layout="strided", **positive))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(9, low=20.0, high=200.0), make(9, low=20.0, high=200.0))
        yield SampleInput(make.values([0, 0, 1, -1, 1, 2]), make.values([0, 1, 0, 1, -1, float("inf")]))
