"""Gated activations: a value times a gate that depends on the input."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.activation._in_place import _InPlace
from torch_py.nn.modules.module import Module

__all__ = ["GELU", "GLU", "Hardswish", "Mish", "SiLU"]


class SiLU(_InPlace):
    """Applies the sigmoid linear unit, also called swish, to every element:

        SiLU(x) = x / (1 + exp(-x))

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.SiLU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2689,  0.0000,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """Applies Mish, a smooth function that lets small negative values through, to every element:

        Mish(x) = x · tanh(log(1 + exp(x)))

    Source: Misra, Mish: a self regularized non-monotonic activation function (2019).

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Mish()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.3034,  0.0000,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class GELU(Module):
    """Applies the Gaussian error linear unit to every element:

        GELU(x) = x · Φ(x)

    Φ is the cumulative distribution function of the standard normal distribution. With `approximate='tanh'`
    it is replaced by

        Φ(x) ≈ (1 + tanh(√(2 / π) · (x + 0.044715 · x³))) / 2

    Source: Hendrycks and Gimpel, Gaussian error linear units (2016).

    Args:
        approximate: 'none' (default) for the exact formula, 'tanh' for the approximation

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.GELU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.1587,  0.0000,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardswish(_InPlace):
    """Applies a piecewise approximation of `SiLU` that needs no exponential to every element:

        Hardswish(x) = 0                  if x <= -3
                       x                  if x >= 3
                       x · (x + 3) / 6    between

    Source: Howard et al., Searching for MobileNetV3 (2019).

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardswish()(torch.tensor([-1.0, 1.0, 4.0]))
        tensor([-0.3333,  0.6667,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class GLU(Module):
    """Multiplies the first half of the input along one dimension by the sigmoid of the second half:

        GLU(a, b) = a · sigmoid(b)

    Source: Dauphin et al., Language modeling with gated convolutional networks (2016).

    Args:
        dim: the dimension that is halved; default -1. Its size must be even

    Shape:
        Input: (..., 2 · n, ...).
        Output: (..., n, ...).

    Example:
        >>> nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
