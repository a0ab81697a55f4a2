"""Losses of numbers against numbers, as functions.

`reduction` is 'mean', 'sum' or 'none'.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from torch_py._C import _nn, _torch
from torch_py._functional import broadcast_tensors
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn._reduction import REDUCTIONS, reduced, reduction_number

__all__ = ["gaussian_nll_loss", "huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss"]

_mse_loss = _nn.mse_loss
_l1_loss = _nn.l1_loss
_smooth_l1_loss = _nn.smooth_l1_loss
_huber_loss = _nn.huber_loss
_poisson_nll_loss = _torch.poisson_nll_loss


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
    number = reduction_number(reduction, size_average, reduce)
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
    number = reduction_number(reduction, size_average, reduce)
    if weight is None:
        input, target = broadcast_tensors(input, target)
        return _l1_loss(input, target, number)
    return _weighted((input - target).abs(), _of_same_size(weight, input), number)


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
    number = reduction_number(reduction, size_average, reduce)
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
    number = reduction_number(reduction, None, None)
    wide_input, wide_target = broadcast_tensors(input, target)
    if weight is None:
        return _huber_loss(wide_input, wide_target, number, delta)

    loss = _huber_loss(wide_input, wide_target, REDUCTIONS["none"], delta)
    return reduced(loss * _of_same_size(weight, input), number)


def _warn_of_broadcast(input: Tensor, target: Tensor) -> None:
    """Warns if the shapes differ, as broadcasting is rarely what a loss needs."""
    if tuple(input.shape) != tuple(target.shape):
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
            "same size.",
            stacklevel=3,
        )


def _weighted(loss: Tensor, weight: Tensor, number: int) -> Tensor:
    """Reduces a weighted loss; 'mean' divides by the sum of the weights."""
    weighted = loss * weight
    return weighted.sum() / weight.sum() if number == 1 else reduced(weighted, number)


def _of_same_size(weight: Tensor, input: Tensor) -> Tensor:
    """Returns `weight`. Raises ValueError unless it has the size of the input."""
    if weight.size() != input.size():
        raise ValueError(
            f"Weights and input must have the same size, got {tuple(weight.size())} and {tuple(input.size())}"
        )
    return weight


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
    """The negative log likelihood of counts under a Poisson distribution:

        loss = exp(input) - target · input          if log_input
               input - target · log(input + eps)    otherwise

    Args:
        input: any shape
        target: the same shape
        log_input: whether the input is the logarithm of the rate; default True
        full: whether to add an approximation of log(target!); default False
        eps: what keeps the logarithm finite; default 1e-8
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.poisson_nll_loss(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 3.0]))
        tensor(0.3591)
    """
    return _poisson_nll_loss(
        input, target, log_input, full, eps, reduction_number(reduction, size_average, reduce)
    )


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood under normal distributions:

        loss = (log(v) + (input - target)² / v) / 2    with v = max(var, eps)

    Args:
        input: any shape
        target: the same shape
        var: the variances: a number, the shape of the input, or that without the last dimension
        full: whether to add log(2π) / 2; default False
        eps: the least variance; default 1e-6
        reduction: 'mean' (default), 'sum' or 'none'

    Raises:
        ValueError: a variance is negative, or its shape does not fit

    Example:
        >>> F.gaussian_nll_loss(torch.tensor([1.0]), torch.tensor([1.5]), torch.tensor([1.0]))
        tensor(0.1250)
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

    number = reduction_number(reduction, None, None)
    limited = var.clone()
    with no_grad():
        limited.clamp_(min=eps)

    loss = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)

    return reduced(loss, number)


def _differs_in_one_size_1(shape: Sequence[int], other: Sequence[int]) -> bool:
    if len(shape) != len(other):
        return False
    different = [size for size, wanted in zip(shape, other) if size != wanted]
    return different == [1]
