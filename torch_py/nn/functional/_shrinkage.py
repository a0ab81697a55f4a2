"""Activations that move elements towards zero, as functions."""

from __future__ import annotations

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor

__all__ = ["hardshrink", "softshrink", "tanhshrink"]

hardshrink = _torch.hardshrink
softshrink = _nn.softshrink


def tanhshrink(input: Tensor) -> Tensor:
    """Applies the difference between the identity and tanh:

        tanhshrink(x) = x - tanh(x)

    Args:
        input: any shape

    Example:
        >>> F.tanhshrink(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2384,  0.0000,  1.0360])
    """
    return input - input.tanh()
