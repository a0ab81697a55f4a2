"""Convolutions and what moves windows to columns, as functions."""

from __future__ import annotations

from typing import Any

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "unfold",
    "pixel_shuffle",
    "pixel_unshuffle",
    "channel_shuffle",
]

conv1d = _torch.conv1d
conv2d = _torch.conv2d
conv3d = _torch.conv3d
conv_tbc = _torch.conv_tbc
conv_transpose1d = _torch.conv_transpose1d
conv_transpose2d = _torch.conv_transpose2d
conv_transpose3d = _torch.conv_transpose3d
pixel_shuffle = _torch.pixel_shuffle
pixel_unshuffle = _torch.pixel_unshuffle
channel_shuffle = _torch.channel_shuffle
_im2col = _nn.im2col
_col2im = _nn.col2im


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of images (N, C, H, W) as columns (N, C * kH * kW, windows)."""
    return _im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Adds the columns of `unfold` up to images of `output_size`."""
    return _col2im(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    )
