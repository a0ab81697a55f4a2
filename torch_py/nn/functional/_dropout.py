"""Dropout of elements and of whole channels, as functions."""

from __future__ import annotations

import warnings

from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_dropout = _torch.dropout
_feature_dropout = _torch.feature_dropout
_alpha_dropout = _torch.alpha_dropout
_feature_alpha_dropout = _torch.feature_alpha_dropout


def _check_probability(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(shape: tuple[int, ...], p: float, like: Tensor) -> Tensor:
    """Returns factors that are 0 with probability `p` and 1 / (1 - p) otherwise."""
    keep = _torch.empty(shape, dtype=like.dtype, device=like.device).bernoulli_(1 - p)
    return keep.div_(1 - p) if p < 1.0 else keep


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets elements to zero at random, and scales the others by 1 / (1 - p) so that the expected value stays.

    Args:
        input: any shape
        p: the probability of zero; default 0.5
        training: whether to do so; otherwise the input is returned; default True
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> F.dropout(torch.ones(1, 2, 2), training=False).shape
        torch.Size([1, 2, 2])
    """
    _check_probability(p)
    if not inplace:
        return _dropout(input, p, training)
    return input.mul_(_kept(tuple(input.shape), p, input)) if training and p > 0.0 else input


def _channel_dropout(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Drops whole channels, the slices along the first two dimensions."""
    if not inplace:
        return _feature_dropout(input, p, training)
    if not training or p == 0.0:
        return input
    return input.mul_(_kept((*input.shape[:2], *([1] * (input.dim() - 2))), p, input))


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Replaces elements at random by the limit of `selu` for large negative inputs, and keeps mean 0 and
    variance 1.

    Args:
        input: any shape
        p: the probability of being replaced; default 0.5
        training: whether to do so; otherwise the input is returned; default False
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> F.alpha_dropout(torch.ones(1, 2, 2)).shape
        torch.Size([1, 2, 2])
    """
    _check_probability(p)
    result = _alpha_dropout(input, p, training)
    return input.copy_(result) if inplace and training else result


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Replaces whole channels at random by the limit of `selu` for large negative inputs, and keeps mean 0
    and variance 1.

    Args:
        input: (N, C, ...)
        p: the probability of being replaced; default 0.5
        training: whether to do so; otherwise the input is returned; default False
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> F.feature_alpha_dropout(torch.ones(1, 2, 2)).shape
        torch.Size([1, 2, 2])
    """
    _check_probability(p)
    result = _feature_alpha_dropout(input, p, training)
    return input.copy_(result) if inplace and training else result


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels to zero at random, and scales the others by 1 / (1 - p) so that the expected value
    stays.

    Args:
        input: (N, C, L) or (C, L)
        p: the probability of zero; default 0.5
        training: whether to do so; otherwise the input is returned; default True
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> F.dropout1d(torch.ones(1, 2, 2), training=False).shape
        torch.Size([1, 2, 2])
    """
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
            "dimension, and an optional batch dimension."
        )
    return _with_batch(input, 3, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels to zero at random, and scales the others by 1 / (1 - p) so that the expected value
    stays.

    Args:
        input: (N, C, H, W)
        p: the probability of zero; default 0.5
        training: whether to do so; otherwise the input is returned; default True
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> F.dropout2d(torch.ones(1, 2, 2, 2), training=False).shape
        torch.Size([1, 2, 2, 2])
    """
    _check_probability(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated; expected 3-D "
            "or 4-D.",
            stacklevel=2,
        )
    return _channel_dropout(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels to zero at random, and scales the others by 1 / (1 - p) so that the expected value
    stays.

    Args:
        input: (N, C, D, H, W) or (C, D, H, W)
        p: the probability of zero; default 0.5
        training: whether to do so; otherwise the input is returned; default True
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> F.dropout3d(torch.ones(1, 2, 2, 2, 2), training=False).shape
        torch.Size([1, 2, 2, 2, 2])
    """
    _check_probability(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated; expected 4-D "
            "or 5-D.",
            stacklevel=2,
        )
    return _with_batch(input, 5, p, training, inplace)


def _with_batch(input: Tensor, dims: int, p: float, training: bool, inplace: bool) -> Tensor:
    """Drops channels of an input that may lack the batch dimension."""
    if input.dim() == dims:
        return _channel_dropout(input, p, training, inplace)
    result = _channel_dropout(input.unsqueeze(0), p, training, inplace)
    return input if inplace else result.squeeze(0)
