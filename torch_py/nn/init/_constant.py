"""Initial values that are not random."""

from __future__ import annotations

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad

__all__ = ["constant_", "dirac_", "eye_", "ones_", "zeros_"]


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills a tensor with a number.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        val: the number

    Example:
        >>> nn.init.constant_(torch.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fills a tensor with ones.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients

    Example:
        >>> nn.init.ones_(torch.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fills a tensor with zeros.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients

    Example:
        >>> nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fills a matrix with ones on its diagonal and zeros elsewhere, so that a linear layer returns its input.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients

    Raises:
        ValueError: the tensor does not have 2 dimensions

    Example:
        >>> nn.init.eye_(torch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(_torch.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills the weight of a convolution so that it returns its input channels, as far as there are outputs
    for them.

    Args:
        tensor: the tensor to fill, in place, without a record for gradients
        groups: the number of groups of channels; default 1

    Raises:
        ValueError: the tensor does not have 3, 4 or 5 dimensions

    Example:
        >>> nn.init.dirac_(torch.empty(2, 2, 3))
        tensor([[[0., 1., 0.],
                 [0., 0., 0.]],
        <BLANKLINE>
                [[0., 0., 0.],
                 [0., 1., 0.]]])
    """
    if not 3 <= tensor.dim() <= 5:
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")

    per_group = tensor.shape[0] // groups
    center = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                position = (group * per_group + channel, channel, *center)
                tensor[position] = 1

    return tensor
