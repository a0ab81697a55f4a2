"""Softmax and its variants, which turn scores into probabilities."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _AlongDim(Module):
    """An activation along one dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """Turns scores into probabilities, positive numbers with sum 1, along one dimension:

        Softmax(x)ᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

    Args:
        dim: the dimension along which the results sum to 1. With None, the default, it is 0 for inputs of 0,
            1 or 3 dimensions and 1 for others, with a warning

    Shape:
        Input: any shape.
        Output: the same shape, with values in [0, 1].

    Example:
        >>> nn.Softmax(dim=1)(torch.tensor([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]))
        tensor([[0.0900, 0.2447, 0.6652],
                [0.3333, 0.3333, 0.3333]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """Computes the logarithm of the softmax along one dimension, without overflow:

        LogSoftmax(x)ᵢ = xᵢ - log(Σⱼ exp(xⱼ))

    It is more accurate and faster than the logarithm of `Softmax`, and is what `NLLLoss` expects.

    Args:
        dim: the dimension along which the exponentials of the results sum to 1. With None, the default, it is
            0 for inputs of 0, 1 or 3 dimensions and 1 for others, with a warning

    Shape:
        Input: any shape.
        Output: the same shape, with values in [-∞, 0].

    Example:
        >>> nn.LogSoftmax(dim=1)(torch.tensor([[0.0, 1.0, 2.0]]))
        tensor([[-2.4076, -1.4076, -0.4076]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmin(_AlongDim):
    """Turns scores into probabilities of which the lowest score has the greatest, along one dimension:

        Softmin(x)ᵢ = exp(-xᵢ) / Σⱼ exp(-xⱼ)

    Args:
        dim: the dimension along which the results sum to 1. With None, the default, it is 0 for inputs of 0,
            1 or 3 dimensions and 1 for others, with a warning

    Shape:
        Input: any shape.
        Output: the same shape, with values in [0, 1].

    Example:
        >>> nn.Softmin(dim=0)(torch.tensor([0.0, 1.0, 2.0]))
        tensor([0.6652, 0.2447, 0.0900])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """Computes the softmax over the channels at every position of an image.

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: the same shape; the values over C sum to 1.

    Raises:
        ValueError: the input does not have 3 or 4 dimensions

    Example:
        >>> images = torch.randn(2, 3, 4, 4)
        >>> nn.Softmax2d()(images).sum(dim=1).shape
        torch.Size([2, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
