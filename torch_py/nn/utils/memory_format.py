"""Memory formats of convolution weights."""

from __future__ import annotations

from typing import TypeVar

from torch_py import _C
from torch_py.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def _convert(module: M, memory_format: _C.memory_format, rank: int) -> M:
    names = {f"Conv{rank}d", f"ConvTranspose{rank}d"}
    for layer in module.modules():
        if any(
            base.__name__ in names and base.__module__ == "torch_py.nn.modules.conv"
            for base in type(layer).__mro__
        ):
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: M, memory_format: _C.memory_format) -> M:
    """Lays out the weights of all two-dimensional convolutions in `module` in `memory_format`, which their
    results then have too. Returns `module`.

    Args:
        module: the module
        memory_format: the order, such as `torch.channels_last`

    Example:
        >>> layer = nn.Conv2d(4, 4, 3)
        >>> layer = nn.utils.convert_conv2d_weight_memory_format(layer, torch.channels_last)
        >>> layer.weight.is_contiguous(memory_format=torch.channels_last)
        True
    """
    return _convert(module, memory_format, 2)


def convert_conv3d_weight_memory_format(module: M, memory_format: _C.memory_format) -> M:
    """Lays out the weights of all three-dimensional convolutions in `module` in `memory_format`, which their
    results then have too. Returns `module`.

    Args:
        module: the module
        memory_format: the order, such as `torch.channels_last_3d`

    Example:
        >>> layer = nn.Conv3d(4, 4, 3)
        >>> layer = nn.utils.convert_conv3d_weight_memory_format(layer, torch.channels_last_3d)
        >>> layer.weight.is_contiguous(memory_format=torch.channels_last_3d)
        True
    """
    return _convert(module, memory_format, 3)
