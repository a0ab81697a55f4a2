"""Losses of scores and probabilities against classes, as functions.

`reduction` is 'mean', 'sum' or 'none'.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn._reduction import REDUCTIONS, reduction_number

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "ctc_loss",
    "kl_div",
    "linear_cross_entropy",
    "nll_loss",
]

_nll_loss = _nn.nll_loss_nd
_binary_cross_entropy = _nn.binary_cross_entropy
_kl_div = _torch.kl_div
_cross_entropy_loss = _nn.cross_entropy_loss
_binary_cross_entropy_with_logits = _torch.binary_cross_entropy_with_logits
_ctc_loss = _torch.ctc_loss


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of classes, given log probabilities:

        loss[n] = -weight[target[n]] · input[n, target[n]]

    Args:
        input: (N, C, ...) or (C,)
        target: class numbers (N, ...) or ()
        weight: (C,), a factor for each class; the mean divides by the sum of those of the targets; default
            None
        ignore_index: a class number that is left out; default -100
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.nll_loss(torch.tensor([[0.5, 0.5]]).log(), torch.tensor([0]))
        tensor(0.6931)
    """
    return _nll_loss(input, target, weight, reduction_number(reduction, size_average, reduce), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy between the softmax of scores and classes:

        loss[n] = -weight[y] · log softmax(input[n])[y]    with y = target[n]

    Args:
        input: scores (N, C, ...) or (C,)
        target: class numbers (N, ...) or (), or probabilities in the shape of the input
        weight: (C,), a factor for each class; default None
        ignore_index: a class number that is left out; default -100
        label_smoothing: how much of the target is spread over all classes, from 0.0 (default) to 1.0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.cross_entropy(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
        tensor(0.1269)
    """
    number = reduction_number(reduction, size_average, reduce)
    return _cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """The cross entropy of a linear classifier:

        loss = cross_entropy(input · linear_weightᵀ + linear_bias, target)

    Args:
        input: (N, F) or (F,)
        linear_weight: (C, ..., F)
        target: as in `cross_entropy`
        linear_bias: (C, ...), or None
        weight: (C,), a factor for each class; default None
        ignore_index: a class number that is left out; default None
        label_smoothing: how much of the target is spread over all classes; default 0.0
        options: how PyTorch saves memory; has no effect on the loss
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.linear_cross_entropy(torch.ones(1, 2), torch.eye(2), torch.tensor([0]))
        tensor(0.6931)
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(
            f"linear_cross_entropy: expected input with dimensionality 1 or 2, got {input.dim()}"
        )
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError(
            "linear_cross_entropy: ignore_index cannot be specified when target contains probabilities"
        )
    if linear_weight.dim() < 2:
        raise RuntimeError(
            "linear_cross_entropy: expected linear_weight with dimensionality at least 2, got "
            f"{linear_weight.dim()}"
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "linear_cross_entropy: expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )

    classes = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != classes:
        raise RuntimeError(
            f"linear_cross_entropy: expected linear_bias shape {classes}, got {tuple(linear_bias.shape)}"
        )

    flat_bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = _nn.linear(input, linear_weight.reshape(-1, linear_weight.shape[-1]), flat_bias)
    scores = scores.reshape(*input.shape[:-1], *classes)

    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        scores,
        target,
        weight=weight,
        ignore_index=ignored,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross entropy of probabilities, with logarithms of at least -100:

        loss = -weight · (target · log(input) + (1 - target) · log(1 - input))

    Args:
        input: any shape, from [0, 1]
        target: the same shape, from [0, 1]
        weight: a factor for each element, broadcast; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.binary_cross_entropy(torch.tensor([0.9, 0.2]), torch.tensor([1.0, 0.0]))
        tensor(0.1643)
    """
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated."
        )
    if weight is not None:
        weight = weight.expand(target.shape)
    return _binary_cross_entropy(input, target, weight, reduction_number(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The binary cross entropy of scores, whose sigmoid gives the probabilities:

        loss = -weight · (pos_weight · target · log σ(input) + (1 - target) · log(1 - σ(input)))

    Args:
        input: any shape
        target: the same shape, from [0, 1]
        weight: a factor for each element, broadcast; default None
        pos_weight: a factor for the positive part, broadcast; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.binary_cross_entropy_with_logits(torch.tensor([2.0, -1.0]), torch.tensor([1.0, 0.0]))
        tensor(0.2201)
    """
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction_number(reduction, size_average, reduce)
    )


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of the target from an input of log probabilities:

        loss = target · (log(target) - input)

    Args:
        input: any shape
        target: the same shape
        log_target: whether the target holds log probabilities too; default False
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'batchmean', 'sum' or 'none'

    Example:
        >>> F.kl_div(torch.tensor([0.5, 0.5]).log(), torch.tensor([0.5, 0.5]), reduction="sum")
        tensor(0.)
    """
    if reduction == "batchmean":
        total = _kl_div(input, target, REDUCTIONS["sum"], log_target=log_target)
        return total / input.shape[0] if input.dim() > 0 else total

    number = reduction_number(reduction, size_average, reduce)
    if number == REDUCTIONS["mean"]:
        warnings.warn(
            "reduction: 'mean' divides by the number of elements; the KL divergence is what 'batchmean' "
            "gives",
            stacklevel=2,
        )

    return _kl_div(input, target, number, log_target=log_target)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The connectionist temporal classification loss of sequences of unknown alignment:

        loss[n] = -log Σ_alignments Π_t exp(log_probs[t, n, alignment[t]])

    Source: Graves et al., Connectionist temporal classification (2006).

    Args:
        log_probs: (T, N, C) or (T, C), log probabilities
        targets: (N, S), or all targets in one dimension
        input_lengths, target_lengths: (N,) or ()
        blank: the number of the label that stands for nothing; default 0
        reduction: 'mean' (default), which divides each loss by the length of its target first, 'sum' or
            'none'
        zero_infinity: whether infinite losses, of targets longer than the input, become zero; default False

    Example:
        >>> log_probs = torch.zeros(5, 1, 3).log_softmax(dim=2)
        >>> F.ctc_loss(log_probs, torch.tensor([[1, 2]]), [5], [2]).shape
        torch.Size([])
    """
    return _ctc_loss(
        log_probs,
        targets,
        input_lengths,  # type: ignore[arg-type]
        target_lengths,  # type: ignore[arg-type]
        blank,
        reduction_number(reduction, None, None),
        zero_infinity,
    )
