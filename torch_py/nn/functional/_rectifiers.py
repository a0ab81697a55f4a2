"""The rectified linear unit and its relatives, which shrink negative elements, as functions."""

from __future__ import annotations

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "leaky_relu",
    "leaky_relu_",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "softplus",
    "threshold",
    "threshold_",
]

_relu = _torch.relu
_selu = _torch.selu
_celu = _torch.celu
_rrelu = _torch.rrelu
_threshold = _torch.threshold
_relu6 = _nn.relu6
_relu6_in_place = _nn.relu6_
_elu = _nn.elu
_leaky_relu = _nn.leaky_relu


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies the rectified linear unit:

        relu(x) = max(x, 0)

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])
    """
    return relu_(input) if inplace else _relu(input)


relu_ = _torch.relu_


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Limits every element to [0, 6]:

        relu6(x) = min(max(x, 0), 6)

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.relu6(torch.tensor([-1.0, 3.0, 8.0]))
        tensor([0., 3., 6.])
    """
    return (_relu6_in_place if inplace else _relu6)(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Applies a rectified linear unit with a small slope for negative elements:

        leaky_relu(x) = x                     if x > 0
                        negative_slope · x    otherwise

    Args:
        input: any shape
        negative_slope: the slope; default 0.01
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.leaky_relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.0100,  0.0000,  2.0000])
    """
    return (leaky_relu_ if inplace else _leaky_relu)(input, negative_slope)


leaky_relu_ = _nn.leaky_relu_
prelu = _torch.prelu


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Applies a leaky rectified linear unit with random slopes for negative elements:

        rrelu(x) = x        if x >= 0
                   a · x    otherwise

    Args:
        input: any shape
        lower: the smallest slope; default 1/8
        upper: the largest slope; default 1/3
        training: whether a is drawn from [lower, upper) for each element; otherwise it is their mean; default
            False
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.rrelu(torch.tensor([-2.0, 3.0]), 0.1, 0.3)
        tensor([-0.4000,  3.0000])
    """
    return (rrelu_ if inplace else _rrelu)(input, lower, upper, training)


rrelu_ = _torch.rrelu_


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Applies the exponential linear unit:

        elu(x) = x                       if x > 0
                 alpha · (exp(x) - 1)    otherwise

    Args:
        input: any shape
        alpha: minus the limit for x towards -∞; default 1.0
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.elu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.6321,  0.0000,  2.0000])
    """
    return elu_(input, alpha) if inplace else _elu(input, alpha)


elu_ = _nn.elu_


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Applies a continuously differentiable exponential linear unit:

        celu(x) = x                               if x > 0
                  alpha · (exp(x / alpha) - 1)    otherwise

    Args:
        input: any shape
        alpha: minus the limit for x towards -∞; default 1.0
        inplace: whether to overwrite the input; default False

    Raises:
        RuntimeError: `alpha` is 0

    Example:
        >>> F.celu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.6321,  0.0000,  2.0000])
    """
    return (celu_ if inplace else _celu)(input, alpha)


celu_ = _torch.celu_


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies a scaled exponential linear unit that keeps mean 0 and variance 1 from layer to layer:

        selu(x) = scale · x                       if x > 0
                  scale · alpha · (exp(x) - 1)    otherwise

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.selu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-1.1113,  0.0000,  2.1014])
    """
    return selu_(input) if inplace else _selu(input)


selu_ = _torch.selu_
softplus = _nn.softplus


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replaces elements that are not above a threshold:

        threshold(x) = x        if x > threshold
                       value    otherwise

    Args:
        input: any shape
        threshold: the largest number that is replaced
        value: the replacement
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.threshold(torch.tensor([0.0, 0.5, 1.0]), 0.5, 9.0)
        tensor([9., 9., 1.])
    """
    return (threshold_ if inplace else _threshold)(input, threshold, value)


threshold_ = _torch.threshold_
