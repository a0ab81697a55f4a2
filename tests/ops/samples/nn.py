"""Losses, softmax, normalisation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

REDUCTIONS = (0, 1, 2)  # none, mean, sum


@samples("softmax")
def softmax(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(5), *make.layouts(3, 4)):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(2, 3, 2), 1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield SampleInput(make(2, 3), 1, make.torch.float64)
    if not make.requires_grad:
        yield SampleInput(make(3, 131), 1)
        yield SampleInput(make(3, 131, low=-100.0, high=100.0), 0)
        if make.is_floating:
            infinite = float("inf")
            yield SampleInput(make.values([[0.0, -infinite, 1.0], [-infinite] * 3, [infinite, 0.0, 1.0]]), 1)


@error_samples("softmax")
def softmax_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(2, 3, dtype="int64"), 1), NotImplementedError, "softmax.*Long")


# Losses. Differences between self and target stay clear of the kinks at 0 and at beta.


# ``reduction`` is always given: PyTorch's own functions of these names default to none, its documentation to
# the mean.


def _apart(make: Make, *shape: int, low: float = 0.2, high: float = 0.8) -> tuple[Any, Any]:
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


# Normalisation


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


def _statistics(make: Make, channels: int) -> tuple[Any, Any]:
    mean = make(channels, requires_grad=False)
    return mean, make(channels, low=0.5, high=2.0, requires_grad=False)


@samples("batch_norm")
def batch_norm(make: Make) -> Iterator[SampleInput]:
    """Running statistics are written to in training, so that samples with gradients, which are evaluated
    often, have none then."""
    for shape in ((4, 3), (2, 3, 4), (2, 3, 2, 2)):
        weight, bias = make(3, low=0.5, high=1.5), make(3)
        yield SampleInput(make(*shape), weight, bias, None, None, True, 0.1, 1e-5, False)
        yield SampleInput(make(*shape), None, None, *_statistics(make, 3), False, 0.1, 1e-5, False)
        yield SampleInput(make(*shape), weight, bias, *_statistics(make, 3), False, 0.1, 1e-3, False)
    if not make.requires_grad:
        yield SampleInput(make(4, 3), make(3), make(3), *_statistics(make, 3), True, 0.3, 1e-5, False)
        yield SampleInput(
            make(2, 3, 2, 2, layout="channels_last"),
            make(3),
            make(3),
            *_statistics(make, 3),
            True,
            0.1,
            1e-5,
            False,
        )
        yield SampleInput(
            make(2, 3, 5, 4, layout="channels_last"),
            make(3),
            make(3),
            *_statistics(make, 3),
            False,
            0.1,
            1e-5,
            False,
        )


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
