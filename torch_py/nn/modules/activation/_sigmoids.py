"""S-shaped activations and the logarithm of the sigmoid."""

from __future__ import annotations

import warnings

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.activation._in_place import _InPlace
from torch_py.nn.modules.module import Module

__all__ = ["Hardsigmoid", "Hardtanh", "LogSigmoid", "Sigmoid", "Softsign", "Tanh"]


class Sigmoid(Module):
    """Applies the logistic function, which maps real numbers to (0, 1), to every element:

        Sigmoid(x) = 1 / (1 + exp(-x))

    Shape:
        Input: any shape.
        Output: the same shape; integer inputs give floating-point results.

    Example:
        >>> nn.Sigmoid()(torch.tensor([-2.0, 0.0, 2.0]))
        tensor([0.1192, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class LogSigmoid(Module):
    """Applies the logarithm of the logistic function to every element, accurately for large negative inputs
    too:

        LogSigmoid(x) = -log(1 + exp(-x))

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.LogSigmoid()(torch.tensor([-20.0, 0.0, 5.0]))
        tensor([-2.0000e+01, -6.9315e-01, -6.7153e-03])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Hardsigmoid(_InPlace):
    """Applies a piecewise linear approximation of the sigmoid to every element:

        Hardsigmoid(x) = 0              if x <= -3
                         1              if x >= 3
                         x / 6 + 1/2    between

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 1.5, 4.0]))
        tensor([0.0000, 0.5000, 0.7500, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """Applies the hyperbolic tangent, which maps real numbers to (-1, 1), to every element:

        Tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x))

    Shape:
        Input: any shape.
        Output: the same shape; integer inputs give floating-point results.

    Example:
        >>> nn.Tanh()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.7616,  0.0000,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Hardtanh(Module):
    """Limits every element to an interval:

        Hardtanh(x) = min_val    if x < min_val
                      max_val    if x > max_val
                      x          between

    Args:
        min_val: the lower limit; default -1.0
        max_val: the upper limit, greater than `min_val`; default 1.0
        inplace: whether to overwrite the input; default False
        min_value: the former name of `min_val`, with a FutureWarning
        max_value: the former name of `max_val`, with a FutureWarning

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardtanh(-2.0, 2.0)(torch.tensor([-3.0, 0.5, 7.0]))
        tensor([-2.0000,  0.5000,  2.0000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for older, value in (("min_value", min_value), ("max_value", max_value)):
            if value is not None:
                newer = older.removesuffix("ue")
                warnings.warn(
                    f"keyword argument `{older}` is deprecated and renamed to `{newer}`",
                    FutureWarning,
                    stacklevel=2,
                )

        min_val = min_val if min_value is None else min_value
        max_val = max_val if max_value is None else max_value
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class Softsign(Module):
    """Maps real numbers to (-1, 1), with slower saturation than tanh:

        Softsign(x) = x / (1 + |x|)

    Shape:
        Input: any shape.
        Output: the same shape as the input.

    Example:
        >>> nn.Softsign()(torch.tensor([-1.0, 0.0, 3.0]))
        tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)
