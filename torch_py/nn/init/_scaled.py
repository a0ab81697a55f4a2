"""Random initial values that keep the variance from layer to layer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

from torch_py import linalg
from torch_py._C import Generator
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.init._gain import _calculate_correct_fan, _calculate_fan_in_and_fan_out, calculate_gain
from torch_py.nn.init._random import normal_, uniform_

__all__ = ["kaiming_normal_", "kaiming_uniform_", "orthogonal_", "xavier_normal_", "xavier_uniform_"]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with uniform random numbers that keep the variance of activations and gradients from
    layer to layer:

        bound = gain · √(6 / (fan_in + fan_out))

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks
    (2010).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        gain: a factor, see `calculate_gain`; default 1.0
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor has fewer than 2 dimensions

    Example:
        >>> nn.init.xavier_uniform_(torch.empty(3, 3)).abs().max() <= 1
        tensor(True)
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with normal random numbers that keep the variance of activations and gradients from
    layer to layer:

        std = gain · √(2 / (fan_in + fan_out))

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks
    (2010).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        gain: a factor, see `calculate_gain`; default 1.0
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor has fewer than 2 dimensions

    Example:
        >>> nn.init.xavier_normal_(torch.empty(3, 3)).shape
        torch.Size([3, 3])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with uniform random numbers that keep the variance of activations behind a rectifier:

        bound = gain · √(3 / fan)

    Source: He et al., Delving deep into rectifiers (2015).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        a: the slope of the rectifier for negative numbers, with 'leaky_relu'; default 0
        mode: the fan: 'fan_in' (default) keeps the variance forward, 'fan_out' backward
        nonlinearity: the name of the function that follows, see `calculate_gain`; default 'leaky_relu'
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.kaiming_uniform_(torch.empty(3, 3), nonlinearity="relu").abs().max() <= 1.4143
        tensor(True)
    """

    def fill(std: float) -> Tensor:
        bound = math.sqrt(3.0) * std
        return uniform_(tensor, -bound, bound, generator)

    return _kaiming(tensor, a, mode, nonlinearity, fill)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with normal random numbers that keep the variance of activations behind a rectifier:

        std = gain / √fan

    Source: He et al., Delving deep into rectifiers (2015).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        a: the slope of the rectifier for negative numbers, with 'leaky_relu'; default 0
        mode: the fan: 'fan_in' (default) keeps the variance forward, 'fan_out' backward
        nonlinearity: the name of the function that follows, see `calculate_gain`; default 'leaky_relu'
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.kaiming_normal_(torch.empty(3, 3)).shape
        torch.Size([3, 3])
    """
    return _kaiming(tensor, a, mode, nonlinearity, lambda std: normal_(tensor, 0.0, std, generator))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _kaiming(
    tensor: Tensor, a: float, mode: str, nonlinearity: str, fill: Callable[[float], Tensor]
) -> Tensor:
    """Calls `fill` with the standard deviation; warns for a tensor without elements and leaves it."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return tensor
    return fill(_kaiming_std(tensor, a, mode, nonlinearity))


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with a random matrix whose rows or columns, whichever are fewer, are orthonormal. Later
    dimensions count as columns.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        gain: a factor; default 1
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor has fewer than 2 dimensions

    Example:
        >>> nn.init.orthogonal_(torch.empty(3, 3)).det().abs().round()
        tensor(1.)
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor

    rows = tensor.shape[0]
    columns = tensor.numel() // tensor.shape[0]

    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    if rows < columns:
        basis = _orthonormal_columns(flat.t()).t()
    else:
        basis = _orthonormal_columns(flat)

    with no_grad():
        return tensor.copy_(basis.reshape(tensor.shape)).mul_(gain)


def _orthonormal_columns(matrix: Tensor) -> Tensor:
    """Returns Q of the QR decomposition in which R has a positive diagonal: Q is uniformly distributed."""
    Q, R = linalg.qr(matrix)  # type: ignore[attr-defined]
    return Q * R.diagonal().sign()
