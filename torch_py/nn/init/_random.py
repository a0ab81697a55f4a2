"""Random initial values from distributions with given parameters."""

from __future__ import annotations

import math
import warnings

from torch_py import _C
from torch_py._C import Generator, _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad

__all__ = ["normal_", "sparse_", "trunc_normal_", "uniform_"]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills a tensor with random numbers from the uniform distribution over [a, b).

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        a: the least number; default 0.0
        b: the end; default 1.0
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.uniform_(torch.empty(3, 3), -1.0, 1.0).shape
        torch.Size([3, 3])
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills a tensor with random numbers from a normal distribution.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        mean: the mean; default 0.0
        std: the standard deviation; default 1.0
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.normal_(torch.empty(3, 3), std=0.02).shape
        torch.Size([3, 3])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


# PyTorch's names for the same functions, which other packages import.
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fills a tensor with random numbers from a normal distribution, limited to [a, b]: numbers outside are
    drawn again.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        mean: the mean; default 0.0
        std: the standard deviation; default 1.0
        a: the least number; default -2.0
        b: the largest number; default 2.0
        generator: the source of random numbers; default None, the default generator

    Example:
        >>> nn.init.trunc_normal_(torch.empty(3, 3)).abs().max() <= 2
        tensor(True)
    """

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "trunc_normal_: mean is more than 2 std from [a, b]; the distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )

    with no_grad():
        if below(b) - below(a) >= _REDRAW_FROM:
            return _redrawn(tensor, mean, std, a, b, generator)
        tensor.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
        return tensor.copy_(_inverse_erf(tensor)).mul_(std * math.sqrt(2.0)).add_(mean).clamp_(min=a, max=b)


# If at least this share of the distribution is inside the bounds, drawing values again is cheaper than
# inverting the cumulative distribution.
_REDRAW_FROM = 0.3


def _redrawn(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """Fills the tensor with normal values and draws those outside [a, b] again."""
    tensor.normal_(mean, std, generator=generator)
    while bool((outside := (tensor < a) | (tensor > b)).any()):
        again = _torch.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(_torch.where(outside, again, tensor))
    return tensor


def _inverse_erf(tensor: Tensor) -> Tensor:
    """Inverse error function in float64: Winitzki's closed form (2008), off by 0.4 %, then three steps of
    Newton's method, each of which squares the error."""
    y = tensor.to(_C.float64).clamp(min=-1 + 1e-15, max=1 - 1e-15)
    c = 0.147
    log = (1 - y * y).log()
    half = 2 / (math.pi * c) + log / 2
    x = ((half * half - log / c).sqrt() - half).sqrt() * y.sign()
    for _ in range(3):
        x = x - (x.erf() - y) * (math.sqrt(math.pi) / 2) * (x * x).exp()
    return x


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fills a matrix with normal random numbers, and sets a part of every column to zero.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        sparsity: the share of zeros
        std: the standard deviation of the others; default 0.01
        generator: the source of random numbers; default None, the default generator

    Raises:
        ValueError: the tensor does not have 2 dimensions

    Example:
        >>> (nn.init.sparse_(torch.empty(4, 2), sparsity=0.5) == 0).sum(dim=0)
        tensor([2, 2])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")

    rows, columns = tensor.shape
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            order = _torch.randperm(rows, generator=generator, device=tensor.device)
            tensor[order[: math.ceil(sparsity * rows)], column] = 0
    return tensor
