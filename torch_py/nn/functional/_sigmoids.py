"""S-shaped activations and the logarithm of the sigmoid, as functions."""

from __future__ import annotations

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor

__all__ = ["hardsigmoid", "hardtanh", "hardtanh_", "logsigmoid", "sigmoid", "softsign", "tanh"]

_hardsigmoid = _nn.hardsigmoid
_hardsigmoid_in_place = _nn.hardsigmoid_
_sigmoid = _torch.sigmoid
_tanh = _torch.tanh
_log_sigmoid = _nn.log_sigmoid
_hardtanh = _nn.hardtanh


def sigmoid(input: Tensor) -> Tensor:
    """Applies the logistic function, which maps real numbers to (0, 1):

        sigmoid(x) = 1 / (1 + exp(-x))

    Args:
        input: any shape

    Example:
        >>> F.sigmoid(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0.2689, 0.5000, 0.8808])
    """
    return _sigmoid(input)


def logsigmoid(input: Tensor) -> Tensor:
    """Applies the logarithm of the logistic function, accurately for large negative elements too:

        logsigmoid(x) = -log(1 + exp(-x))

    Args:
        input: any shape

    Example:
        >>> F.logsigmoid(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-1.3133, -0.6931, -0.1269])
    """
    return _log_sigmoid(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies a piecewise linear approximation of the sigmoid:

        hardsigmoid(x) = min(max(x + 3, 0), 6) / 6

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.hardsigmoid(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0.3333, 0.5000, 0.8333])
    """
    return _hardsigmoid_in_place(input) if inplace else _hardsigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Applies the hyperbolic tangent, which maps real numbers to (-1, 1):

        tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x))

    Args:
        input: any shape

    Example:
        >>> F.tanh(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.7616,  0.0000,  0.9640])
    """
    return _tanh(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limits every element to [min_val, max_val].

    Args:
        input: any shape
        min_val: the lower limit; default -1.0
        max_val: the upper limit; default 1.0
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `min_val` is above `max_val`

    Example:
        >>> F.hardtanh(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-1.,  0.,  1.])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return (hardtanh_ if inplace else _hardtanh)(input, min_val, max_val)


hardtanh_ = _nn.hardtanh_


def softsign(input: Tensor) -> Tensor:
    """Maps real numbers to (-1, 1), with slower saturation than tanh:

        softsign(x) = x / (1 + |x|)

    Args:
        input: any shape

    Example:
        >>> F.softsign(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.5000,  0.0000,  0.6667])
    """
    return input / (input.abs() + 1)
