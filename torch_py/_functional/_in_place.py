"""In-place forms of functions: dropout and detach."""

from __future__ import annotations

from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = ["alpha_dropout_", "detach_", "dropout_", "feature_alpha_dropout_", "feature_dropout_"]


def detach_(input: Tensor) -> Tensor:
    """Detaches `input` itself from the graph that computed it.

    Args:
        input: the tensor, which is changed

    Example:
        >>> x = torch.ones(1, requires_grad=True) * 2
        >>> torch.detach_(x).requires_grad
        False
    """
    return input.detach_()


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability of zero
        train: whether to do so

    Example:
        >>> torch.dropout_(torch.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    # Imported on first use: torch.nn is large.
    from torch_py.nn.functional._dropout import dropout

    return dropout(input, p, train, inplace=True)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability of zero for each channel
        train: whether to do so

    Example:
        >>> torch.feature_dropout_(torch.ones(1, 2), 0.5, False)
        tensor([[1., 1.]])
    """
    return input.copy_(_torch.feature_dropout(input, p, train)) if train else input


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability for each element of being replaced
        train: whether to do so

    Example:
        >>> torch.alpha_dropout_(torch.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    return input.copy_(_torch.alpha_dropout(input, p, train)) if train else input


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place.

    Args:
        input: the tensor, which is changed
        p: the probability for each channel of being replaced
        train: whether to do so

    Example:
        >>> torch.feature_alpha_dropout_(torch.ones(1, 2), 0.5, False)
        tensor([[1., 1.]])
    """
    return input.copy_(_torch.feature_alpha_dropout(input, p, train)) if train else input
