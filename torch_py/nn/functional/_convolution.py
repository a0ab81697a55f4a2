"""Convolutions, sliding windows as columns, and pixel and channel shuffles, as functions."""

from __future__ import annotations

from collections.abc import Sequence

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


def _pair(value: int | Sequence[int]) -> Sequence[int]:
    """Returns an int as two equal values."""
    return (value, value) if isinstance(value, int) else value


def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Extracts the sliding windows of images as columns.

    Args:
        input: (N, C, H, W) or (C, H, W)
        kernel_size: the size of the windows
        dilation: the distance between two elements of a window; default 1
        padding: the width of zeros on all sides; default 0
        stride: the distance between two windows; default 1

    Example:
        >>> F.unfold(torch.ones(1, 2, 3, 3), kernel_size=2).shape
        torch.Size([1, 8, 4])
    """
    return _im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Adds columns of sliding windows up to images, where windows overlap by their sum; the transpose of
    `unfold`.

    Args:
        input: (N, C · KH · KW, windows) or (C · KH · KW, windows)
        output_size: the size of the images
        kernel_size: the size of the windows
        dilation: the distance between two elements of a window; default 1
        padding: the width of the margin of the images; default 0
        stride: the distance between two windows; default 1

    Example:
        >>> F.fold(torch.ones(1, 4, 4), output_size=3, kernel_size=2)
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
    """
    return _col2im(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    )
