"""Softmax and its variants, which turn scores into probabilities, as functions."""

from __future__ import annotations

import warnings

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.types import _dtype

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]

_softmax = _torch.softmax
_log_softmax = _torch.log_softmax


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Turns scores into probabilities along a dimension:

        softmax(x)ᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

    Args:
        input: any shape
        dim: the dimension; None, the default, guesses one and warns
        dtype: the dtype to convert the scores to before; default None, their own
        _stacklevel: how many calls up the warning points

    Example:
        >>> F.softmax(torch.tensor([0.0, 1.0, 2.0]), dim=0)
        tensor([0.0900, 0.2447, 0.6652])
    """
    return _softmax(input, _chosen_dim("softmax", dim, input.dim()), dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Turns scores into probabilities of which the lowest score has the greatest:

        softmin(x)ᵢ = exp(-xᵢ) / Σⱼ exp(-xⱼ)

    Args:
        input: any shape
        dim: the dimension; None, the default, guesses one and warns
        dtype: the dtype to convert the scores to before; default None, their own
        _stacklevel: how many calls up the warning points

    Example:
        >>> F.softmin(torch.tensor([0.0, 1.0, 2.0]), dim=0)
        tensor([0.6652, 0.2447, 0.0900])
    """
    return _softmax(-input, _chosen_dim("softmin", dim, input.dim()), dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Computes the logarithm of the softmax along a dimension, without overflow:

        log_softmax(x)ᵢ = xᵢ - log(Σⱼ exp(xⱼ))

    Args:
        input: any shape
        dim: the dimension; None, the default, guesses one and warns
        dtype: the dtype to convert the scores to before; default None, their own
        _stacklevel: how many calls up the warning points

    Example:
        >>> F.log_softmax(torch.tensor([0.0, 1.0, 2.0]), dim=0)
        tensor([-2.4076, -1.4076, -0.4076])
    """
    return _log_softmax(input, _chosen_dim("log_softmax", dim, input.dim()), dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draws random choices with probabilities softmax(logits), relaxed so that gradients pass:

        y = softmax((logits + g) / tau)    with g from the Gumbel distribution

    Source: Jang, Gu and Poole, Categorical reparameterization with Gumbel-softmax (2016).

    Args:
        logits: scores of any shape
        tau: the temperature: the lower, the closer results are to 0 and 1; default 1
        hard: whether results are exactly one-hot, with the gradient of the relaxed ones; default False
        eps: has no effect
        dim: the dimension of the choices; default -1

    Example:
        >>> F.gumbel_softmax(torch.zeros(2, 3), hard=True).sum(dim=1)
        tensor([1., 1.])
    """
    noise = -_torch.empty_like(logits, memory_format=_C.contiguous_format).exponential_().log()
    relaxed = _softmax((logits + noise) / tau, dim)
    if not hard:
        return relaxed
    chosen = relaxed.max(dim, keepdim=True)[1]
    one_hot = _torch.zeros_like(logits, memory_format=_C.contiguous_format).scatter_(dim, chosen, 1.0)
    return one_hot - relaxed.detach() + relaxed


def _chosen_dim(function: str, dim: int | None, ndim: int) -> int:
    """Returns `dim`, or the dimension that older programs rely on, with a warning."""
    if dim is not None:
        return dim
    chosen = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(
        f"{function}: dim was not given and is guessed to be {chosen}; say dim={chosen} to keep it",
        stacklevel=3,
    )
    return chosen
