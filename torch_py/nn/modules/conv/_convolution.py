"""Convolution layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.conv._base import _ConvNd
from torch_py.nn.modules.utils import _ntuple
from torch_py.types import Device, _dtype

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class _Convolution(_ConvNd):
    """A convolution over `_rank` dimensions, computed by `_function`."""

    _rank: int
    _function: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        each = _ntuple(self._rank)
        widths = padding if isinstance(padding, str) else each(padding)

        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size),
            each(stride),
            widths,
            each(dilation),
            False,
            each(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve = type(self)._function
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(padded, weight, bias, self.stride, 0, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Convolution):
    """Applies `out_channels` learned filters to sequences:

        output[n, o] = bias[o] + Σ_c weight[o, c] ⋆ input[n, c]

    ⋆ is cross-correlation: the filter slides over the input, and the products at each position are summed.
    Weight and bias start with uniform random numbers from ±1 / √(in_channels / groups · number of positions
    of the kernel).

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of filters O, which is the number of channels of the output
        kernel_size: the size of the filters: an integer
        stride: the distance between two positions of the filters; default 1
        padding: the width added on both sides of each spatial dimension; default 0. 'valid' is 0, 'same' the
            width that keeps the size, for stride 1
        dilation: the distance between two elements of a filter; default 1
        groups: the number of groups into which channels are split; each filter sees the channels of one
            group; default 1
        bias: whether to add a learned bias to each output channel; default True
        padding_mode: what the padding contains: 'zeros' (default), 'reflect', 'replicate' or 'circular'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, O, L') or (O, L'), where each size is floor((size + 2 · padding - dilation · (kernel_size
            - 1) - 1) / stride) + 1.
        weight: (O, C / groups, K).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or a padding is unknown

    Example:
        >>> layer = nn.Conv1d(3, 8, kernel_size=3, stride=2, padding=1)
        >>> layer(torch.randn(4, 3, 16)).shape
        torch.Size([4, 8, 8])
    """

    _rank = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """Applies `out_channels` learned filters to images:

        output[n, o] = bias[o] + Σ_c weight[o, c] ⋆ input[n, c]

    ⋆ is cross-correlation: the filter slides over the input, and the products at each position are summed.
    Weight and bias start with uniform random numbers from ±1 / √(in_channels / groups · number of positions
    of the kernel).

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of filters O, which is the number of channels of the output
        kernel_size: the size of the filters: an integer, or (height, width)
        stride: the distance between two positions of the filters; default 1
        padding: the width added on both sides of each spatial dimension; default 0. 'valid' is 0, 'same' the
            width that keeps the size, for stride 1
        dilation: the distance between two elements of a filter; default 1
        groups: the number of groups into which channels are split; each filter sees the channels of one
            group; default 1
        bias: whether to add a learned bias to each output channel; default True
        padding_mode: what the padding contains: 'zeros' (default), 'reflect', 'replicate' or 'circular'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, O, H', W') or (O, H', W'), where each size is floor((size + 2 · padding - dilation ·
            (kernel_size - 1) - 1) / stride) + 1.
        weight: (O, C / groups, KH, KW).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or a padding is unknown

    Example:
        >>> layer = nn.Conv2d(3, 8, kernel_size=3, stride=2, padding=1)
        >>> layer(torch.randn(4, 3, 16, 16)).shape
        torch.Size([4, 8, 8, 8])
    """

    _rank = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_Convolution):
    """Applies `out_channels` learned filters to volumes:

        output[n, o] = bias[o] + Σ_c weight[o, c] ⋆ input[n, c]

    ⋆ is cross-correlation: the filter slides over the input, and the products at each position are summed.
    Weight and bias start with uniform random numbers from ±1 / √(in_channels / groups · number of positions
    of the kernel).

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of filters O, which is the number of channels of the output
        kernel_size: the size of the filters: an integer, or (depth, height, width)
        stride: the distance between two positions of the filters; default 1
        padding: the width added on both sides of each spatial dimension; default 0. 'valid' is 0, 'same' the
            width that keeps the size, for stride 1
        dilation: the distance between two elements of a filter; default 1
        groups: the number of groups into which channels are split; each filter sees the channels of one
            group; default 1
        bias: whether to add a learned bias to each output channel; default True
        padding_mode: what the padding contains: 'zeros' (default), 'reflect', 'replicate' or 'circular'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, O, D', H', W') or (O, D', H', W'), where each size is floor((size + 2 · padding - dilation
            · (kernel_size - 1) - 1) / stride) + 1.
        weight: (O, C / groups, KD, KH, KW).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or a padding is unknown

    Example:
        >>> layer = nn.Conv3d(3, 8, kernel_size=3, stride=2, padding=1)
        >>> layer(torch.randn(4, 3, 8, 8, 8)).shape
        torch.Size([4, 8, 4, 4, 4])
    """

    _rank = 3
    _function = staticmethod(F.conv3d)
