"""Samples of losses of single elements and of classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

# none, mean, sum. The samples always give ``reduction``: the defaults of PyTorch's own functions and of its
# documentation differ.
REDUCTIONS = (0, 1, 2)


def _apart(make: Make, *shape: int, low: float = 0.2, high: float = 0.8) -> tuple[Any, Any]:
    """A prediction and its target, whose differences stay clear of the kinks at 0 and at beta."""
    target = make(*shape)
    distance = make(*shape, low=low, high=high, requires_grad=False)
    has_sign = make.dtype_name not in ("bool", "uint8")
    sign = make.values([-1 if has_sign else 0, 1] * 40)[: distance.numel()].detach().reshape(distance.shape)
    prediction = (target.detach() + sign * distance).detach()
    return (prediction.requires_grad_() if make.requires_grad else prediction), target


@samples("loss_pair")
def loss_pair(make: Make) -> Iterator[SampleInput]:
    for reduction in REDUCTIONS:
        yield SampleInput(*_apart(make, 2, 3), reduction)
    yield SampleInput(*_apart(make, 3), 1)
    yield SampleInput(*_apart(make), 1)
    yield SampleInput(*_apart(make, 0, 3), 0)
    yield SampleInput(*_apart(make, 2, 3, low=1.2, high=1.9), 1)
    yield SampleInput(*_apart(make, 2, 3), 1, beta=0.1)
    yield SampleInput(*_apart(make, 2, 3, low=1.6, high=2.0), 1, beta=1.5)
    yield SampleInput(*_apart(make, 2, 3), 1, delta=0.1)
    yield SampleInput(*_apart(make, 2, 3, low=1.6, high=2.0), 1, delta=1.5)
    yield SampleInput(make(3, 2, layout="transposed"), make(3, 2), 2)


@error_samples("loss_pair")
def loss_pair_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 4)), RuntimeError, "3.*4|4.*3|size")
    yield ErrorInput(SampleInput(make(2), make(2), beta=-1.0), RuntimeError, "beta")
    yield ErrorInput(SampleInput(make(2), make(2), delta=-1.0), RuntimeError, "delta")


@samples("loss_probability")
def loss_probability(make: Make) -> Iterator[SampleInput]:
    inside: dict[str, Any] = {"low": 0.1, "high": 0.9}
    for reduction in REDUCTIONS:
        yield SampleInput(make(2, 3, **inside), make(2, 3, **inside), None, reduction)
        yield SampleInput(
            make(2, 3, **inside),
            make(2, 3, **inside),
            make(3, low=0.5, high=2.0, requires_grad=False),
            reduction,
        )
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([0.0, 1.0, 0.0, 1.0]), make.values([0.0, 1.0, 1.0, 0.0]), None, 0)


@error_samples("loss_probability")
def loss_probability_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make.values([0.5, 1.5]), make.values([0.0, 1.0])), RuntimeError, "0 and 1|between|1.5"
    )


@samples("loss_logits")
def loss_logits(make: Make) -> Iterator[SampleInput]:
    for reduction in REDUCTIONS:
        yield SampleInput(make(2, 3), make(2, 3, low=0.0, high=1.0), None, None, reduction)
    weight = make(3, low=0.5, high=2.0, requires_grad=False)
    yield SampleInput(make(2, 3), make(2, 3, low=0.0, high=1.0), weight, None, 1)
    yield SampleInput(make(2, 3), make(2, 3, low=0.0, high=1.0), weight, weight, 0)
    yield SampleInput(make(2, 3), make(2, 3, low=0.0, high=1.0), None, weight, 2)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make(4, low=-200.0, high=200.0), make(4, low=0.0, high=1.0), None, None, 0)


@error_samples("loss_logits", "kl_div")
def loss_logits_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 4)), RuntimeError, "3.*4|4.*3|size")


@samples("kl_div")
def kl_div(make: Make) -> Iterator[SampleInput]:
    for reduction in REDUCTIONS:
        yield SampleInput(make(2, 3), make(2, 3, low=0.1, high=1.0), reduction)
        yield SampleInput(make(2, 3), make(2, 3), reduction, log_target=True)
    if not make.requires_grad and make.is_floating:
        yield SampleInput(make(3), make.values([0.0, 0.5, 1.0]), 0)


def _classes(make: Make) -> Iterator[tuple[Any, Any]]:
    yield make(3, 4), make.integers(3, high=4)
    yield make(4), make.integers(high=4)
    yield make(2, 3, 2, 2), make.integers(2, 2, 2, high=3)
    yield make(2, 3, 4), make.integers(2, 4, high=3)


@samples("nll_loss")
def nll_loss(make: Make) -> Iterator[SampleInput]:
    for scores, classes in _classes(make):
        for reduction in REDUCTIONS:
            yield SampleInput(scores, classes, None, reduction)
    weight = make(4, low=0.5, high=2.0, requires_grad=False)
    ignored = make.values([1, 3, 0, 1], "int64")
    for reduction in REDUCTIONS:
        yield SampleInput(make(3, 4), make.integers(3, high=4), weight, reduction)
        yield SampleInput(make(4, 4), ignored, weight, reduction, 1)
    yield SampleInput(make(3, 4, layout="transposed"), make.integers(3, high=4), None, 1)


@error_samples("nll_loss")
def nll_loss_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make.values([0, 3], "int64")), IndexError, "3")
    yield ErrorInput(SampleInput(make(2, 3), make.integers(3, high=3)), ValueError, "2.*3|3.*2")


@error_samples("cross_entropy")
def cross_entropy_errors(make: Make) -> Iterator[ErrorInput]:
    yield from nll_loss_errors(make)
    yield ErrorInput(SampleInput(make(2, 3), make(2, 4)), RuntimeError, "shape|size|4")
    yield ErrorInput(
        SampleInput(make(2, 3), make.integers(2, high=3), label_smoothing=1.5),
        RuntimeError,
        "label_smoothing|1.5",
    )


@samples("cross_entropy")
def cross_entropy(make: Make) -> Iterator[SampleInput]:
    yield from nll_loss(make)
    for reduction in REDUCTIONS:
        yield SampleInput(make(2, 3), make(2, 3, low=0.1, high=1.0), None, reduction)
        yield SampleInput(make(2, 3), make.integers(2, high=3), None, reduction, -100, 0.1)
    weight = make(3, low=0.5, high=2.0, requires_grad=False)
    yield SampleInput(make(2, 3), make.values([1, -100], "int64"), weight, 1, -100, 0.2)
    yield SampleInput(make(2, 3), make(2, 3, low=0.1, high=1.0), weight, 1, -100, 0.2)
