"""Activations that move elements towards zero."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["Hardshrink", "Softshrink", "Tanhshrink"]


class _Shrink(Module):
    """An activation that is zero for |x| <= lambd."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """Sets elements close to zero to zero and keeps the others:

        Hardshrink(x) = x    if |x| > lambd
                        0    otherwise

    Args:
        lambd: the largest absolute value that becomes zero; default 0.5

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardshrink()(torch.tensor([-1.0, 0.3, 0.5, 2.0]))
        tensor([-1.,  0.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """Moves every element towards zero by `lambd`, and no further than zero:

        Softshrink(x) = x - lambd    if x > lambd
                        x + lambd    if x < -lambd
                        0            between

    Args:
        lambd: the distance, not negative; default 0.5

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Softshrink()(torch.tensor([-1.0, 0.3, 0.5, 2.0]))
        tensor([-0.5000,  0.0000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class Tanhshrink(Module):
    """Applies the difference between the identity and tanh to every element:

        Tanhshrink(x) = x - tanh(x)

    Shape:
        Input: any shape.
        Output: the same shape as the input.

    Example:
        >>> nn.Tanhshrink()(torch.tensor([-1.0, 0.0, 3.0]))
        tensor([-0.2384,  0.0000,  2.0049])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)
