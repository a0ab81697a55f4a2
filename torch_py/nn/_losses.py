"""Loss functions for regression and classification.

`reduction` is 'mean', 'sum' or 'none'; the older pair size_average and reduce works too.
"""

from __future__ import annotations

import warnings

from torch_py._C import _nn, _torch
from torch_py._functional import broadcast_tensors
from torch_py._tensor import Tensor

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}  # the numbers that operators take
_mse_loss = _nn.mse_loss
_l1_loss = _nn.l1_loss
_smooth_l1_loss = _nn.smooth_l1_loss
_huber_loss = _nn.huber_loss
_nll_loss = _nn.nll_loss_nd
_binary_cross_entropy = _nn.binary_cross_entropy
_kl_div = _torch.kl_div
_cross_entropy_loss = _nn.cross_entropy_loss
_binary_cross_entropy_with_logits = _torch.binary_cross_entropy_with_logits


def reduction_name(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """Returns `reduction`, or the name that the older pair of arguments means.

    Raises ValueError for an unknown name.
    """
    if size_average is not None or reduce is not None:
        name = "none" if reduce is False else ("sum" if size_average is False else "mean")
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.",
            stacklevel=3,
        )
        return name

    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")

    return reduction


def _number(reduction: str, size_average: bool | None, reduce: bool | None) -> int:
    """Returns the number that operators take for a reduction."""
    return _REDUCTIONS[reduction_name(reduction, size_average, reduce)]


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    """Applies the reduction with this number."""
    if reduction == 0:
        return loss
    return loss.mean() if reduction == 1 else loss.sum()


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    """Warns if the shapes differ, as broadcasting is rarely what a loss needs."""
    if tuple(input.shape) != tuple(target.shape):
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
            stacklevel=3,
        )


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared error:

        loss = (input - target)²

    Args:
        input: any shape
        target: the same shape
        weight: a factor for each element; the mean divides by the sum of the weights; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.mse_loss(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(4.6250)
    """
    _warn_of_broadcast(input, target)
    number = _number(reduction, size_average, reduce)
    if weight is None:
        input, target = broadcast_tensors(input, target)
        return _mse_loss(input, target, number)
    return _weighted((input - target) ** 2, _of_same_size(weight, input), number)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute error:

        loss = |input - target|

    Args:
        input: any shape
        target: the same shape
        weight: a factor for each element; the mean divides by the sum of the weights; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.l1_loss(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(1.7500)
    """
    _warn_of_broadcast(input, target)
    number = _number(reduction, size_average, reduce)
    if weight is None:
        input, target = broadcast_tensors(input, target)
        return _l1_loss(input, target, number)
    return _weighted((input - target).abs(), _of_same_size(weight, input), number)


def _weighted(loss: Tensor, weight: Tensor, number: int) -> Tensor:
    """Reduces a weighted loss; 'mean' divides by the sum of the weights."""
    weighted = loss * weight
    return weighted.sum() / weight.sum() if number == 1 else _reduced(weighted, number)


def _of_same_size(weight: Tensor, input: Tensor) -> Tensor:
    """Returns `weight`. Raises ValueError unless it has the size of the input."""
    if weight.size() != input.size():
        raise ValueError(
            f"Weights and input must have the same size, got {tuple(weight.size())} and {tuple(input.size())}"
        )
    return weight


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """An error that is quadratic near zero and linear beyond:

        loss = d² / (2 · beta)    if d < beta, with d = |input - target|
               d - beta / 2       otherwise

    Args:
        input: any shape
        target: the same shape
        beta: where the quadratic part ends, at least 0; default 1.0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.smooth_l1_loss(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(1.3125)
    """
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta: got {beta}")

    _warn_of_broadcast(input, target)
    number = _number(reduction, size_average, reduce)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)

    input, target = broadcast_tensors(input, target)
    return _smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """An error that is quadratic near zero and linear with slope delta beyond:

        loss = d² / 2                     if d < delta, with d = |input - target|
               delta · (d - delta / 2)    otherwise

    Args:
        input: any shape
        target: the same shape
        delta: where the quadratic part ends, greater than 0; default 1.0
        weight: a factor for each element; the mean is over the elements; default None
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.huber_loss(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(1.3125)
    """
    _warn_of_broadcast(input, target)
    number = _number(reduction, None, None)
    wide_input, wide_target = broadcast_tensors(input, target)
    if weight is None:
        return _huber_loss(wide_input, wide_target, number, delta)

    loss = _huber_loss(wide_input, wide_target, _REDUCTIONS["none"], delta)
    return _reduced(loss * _of_same_size(weight, input), number)


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
    return _nll_loss(input, target, weight, _number(reduction, size_average, reduce), ignore_index)


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
    number = _number(reduction, size_average, reduce)
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
        input, target, weight, pos_weight, _number(reduction, size_average, reduce)
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
    return _binary_cross_entropy(input, target, weight, _number(reduction, size_average, reduce))


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
        total = _kl_div(input, target, _REDUCTIONS["sum"], log_target=log_target)
        return total / input.shape[0] if input.dim() > 0 else total

    number = _number(reduction, size_average, reduce)
    if number == _REDUCTIONS["mean"]:
        warnings.warn(
            "reduction: 'mean' divides by the number of elements; the KL divergence is what 'batchmean' "
            "gives",
            stacklevel=2,
        )

    return _kl_div(input, target, number, log_target=log_target)
