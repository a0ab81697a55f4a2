"""Losses of distances, margins, counts and alignments. `reduction` is 'mean', 'sum' or 'none'."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn._losses import _number, _reduced

__all__ = [
    "cosine_embedding_loss",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "poisson_nll_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_ctc_loss = _torch.ctc_loss
_poisson_nll_loss = _torch.poisson_nll_loss
_margin_ranking_loss = _torch.margin_ranking_loss
_hinge_embedding_loss = _torch.hinge_embedding_loss
_cosine_embedding_loss = _torch.cosine_embedding_loss
_triplet_margin_loss = _torch.triplet_margin_loss
_soft_margin_loss = _nn.soft_margin_loss
_multi_margin_loss = _nn.multi_margin_loss
_multilabel_margin_loss = _nn.multilabel_margin_loss
_log_sigmoid = _nn.log_sigmoid
_pairwise_distance = _torch.pairwise_distance


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification: -log of the probability that log_probs (T, N, C) give to
    `targets`, over all alignments (Graves et al. 2006).

    'mean' first divides each loss by the length of its target. `zero_infinity` replaces infinite losses, of
    targets that are longer than the input, by 0.
    """
    return _ctc_loss(
        log_probs,
        targets,
        input_lengths,  # type: ignore[arg-type]
        target_lengths,  # type: ignore[arg-type]
        blank,
        _number(reduction, None, None),
        zero_infinity,
    )


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts under a Poisson distribution: rate - target * log(rate), and with
    `full` log(target!) by Stirling's formula. `input` is log(rate), or the rate if `log_input` is False."""
    return _poisson_nll_loss(input, target, log_input, full, eps, _number(reduction, size_average, reduce))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood under a normal distribution: (log(var) + (input - target)² / var) / 2, where
    `var` is at least `eps`; `full` adds log(2π) / 2.

    Raises ValueError if `var` is negative, or if its shape is neither that of the input, nor that without the
    last dimension, nor one with size 1 in one dimension.
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * _torch.ones_like(input)
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if tuple(var.shape) != tuple(input.shape):
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = var.unsqueeze(-1)
        elif not _differs_in_one_size_1(var.shape, input.shape):
            raise ValueError("var is of incorrect size")

    number = _number(reduction, None, None)
    limited = var.clone()
    with _no_grad():
        limited.clamp_(min=eps)

    loss = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)

    return _reduced(loss, number)


def _differs_in_one_size_1(shape: Sequence[int], other: Sequence[int]) -> bool:
    if len(shape) != len(other):
        return False
    different = [size for size, wanted in zip(shape, other) if size != wanted]
    return different == [1]


def _no_grad() -> Any:
    return no_grad()


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Loss for ordering two inputs: max(0, -target * (input1 - input2) + margin), where
    target is 1 if input1 should be larger and -1 otherwise."""
    number = _number(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _margin_ranking_loss(input1, input2, target, margin, number)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Loss of distances: `input` where the target is 1, and max(0, margin - input) where it is -1."""
    return _hinge_embedding_loss(input, target, margin, _number(reduction, size_average, reduce))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Loss of the angle between two vectors: 1 - cos where the target is
    1, and max(0, cos - margin) where it is -1."""
    return _cosine_embedding_loss(input1, input2, target, margin, _number(reduction, size_average, reduce))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Logistic loss of targets 1 and -1: log(1 + exp(-target * input))."""
    return _soft_margin_loss(input, target, _number(reduction, size_average, reduce))


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge loss of classes: the mean over the other classes of max(0, margin - input[target] +
    input[class]) ** p. Raises ValueError unless p is 1 or 2."""
    number = _number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge loss of several labels: max(0, 1 - input[label] + input[class]), summed over the labels and
    all other classes and divided by the number of classes. Labels end at the first -1 of a row of targets."""
    return _multilabel_margin_loss(input, target, _number(reduction, size_average, reduce))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of scores, averaged over the classes (the last dimension)."""
    number = _number(reduction, size_average, reduce)
    loss = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(dim=input.dim() - 1) / input.size(input.dim() - 1), number)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Loss of relative distances: max(0, margin + d(anchor, positive) - d(anchor, negative)), where d is
    the p-norm of the difference. With `swap` the distance of the negative to the nearer of the two counts."""
    number = _number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Computes `triplet_margin_loss` with any distance; `pairwise_distance` by default."""
    number = _number(reduction, None, None)
    distance = distance_function if distance_function is not None else _pairwise_distance
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D "
            "inputs"
        )

    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = _torch.minimum(far, distance(positive, negative))

    return _reduced((margin + near - far).clamp_min(0), number)
