"""Convolution layers that take the number of channels from their first input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn.modules.conv._base import _ConvNd, check_settings
from torch_py.nn.modules.conv._convolution import Conv1d, Conv2d, Conv3d
from torch_py.nn.modules.conv._transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from torch_py.nn.modules.lazy import LazyModuleMixin
from torch_py.nn.parameter import UninitializedParameter
from torch_py.types import Device, _dtype

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConv(LazyModuleMixin, _ConvNd):
    """A convolution that takes `in_channels` from its first input."""

    _rank: int
    weight: Any
    bias: Any

    def _wait(self, out_channels: int, groups: int, bias: bool, device: Device, dtype: _dtype | None) -> None:
        """Sets what is known of the layer and leaves the parameters without shapes."""
        check_settings(0, out_channels, groups, self.padding, self.padding_mode, self.stride)
        self.out_channels = out_channels
        self.groups = groups
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *rest: Any, **more: Any) -> None:
        if self.has_uninitialized_params():
            self.in_channels = self._channels(input)
            if self.in_channels % self.groups != 0:
                raise ValueError("in_channels must be divisible by groups")

            if self.transposed:
                channels = (self.in_channels, self.out_channels // self.groups)
            else:
                channels = (self.out_channels, self.in_channels // self.groups)
            self.weight.materialize((*channels, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

        # A state dict may have given the parameters their shapes already.
        if self.in_channels == 0:
            self.in_channels = self._channels(input)

    def _channels(self, input: Tensor) -> int:
        """Returns the number of channels of `input`. Raises RuntimeError for a wrong number of dimensions."""
        if input.dim() not in (self._rank + 1, self._rank + 2):
            raise RuntimeError(
                f"Expected {self._rank + 1}D (unbatched) or {self._rank + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-self._rank - 1]


class _LazyForward(_LazyConv):
    """A lazy convolution that is not transposed."""

    def __init__(
        self,
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
        # Made with no channels and one group: the numbers of channels are not known yet.
        super().__init__(0, 0, kernel_size, stride, padding, dilation, 1, False, padding_mode, device, dtype)
        self._wait(out_channels, groups, bias, device, dtype)


class _LazyTransposed(_LazyConv):
    """A lazy transposed convolution."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        # Made with no channels and one group: the numbers of channels are not known yet.
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            1,
            False,
            dilation,
            padding_mode,
            device,
            dtype,
        )
        self._wait(out_channels, groups, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):
    """A `Conv1d` that takes `in_channels` from its first input.

    Its parameters are uninitialized until the first call, which also turns the layer into a `Conv1d`. Call
    the model once before its parameters are given to an optimizer.

    Args:
        out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype: those
            of `Conv1d`

    Shape:
        Input: (N, C, L) or (C, L).
        Output: that of `Conv1d`.

    Example:
        >>> layer = nn.LazyConv1d(8, kernel_size=3)
        >>> output = layer(torch.randn(2, 5, 16))
        >>> layer
        Conv1d(5, 8, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """A `Conv2d` that takes `in_channels` from its first input.

    Its parameters are uninitialized until the first call, which also turns the layer into a `Conv2d`. Call
    the model once before its parameters are given to an optimizer.

    Args:
        out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype: those
            of `Conv2d`

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: that of `Conv2d`.

    Example:
        >>> layer = nn.LazyConv2d(8, kernel_size=3)
        >>> output = layer(torch.randn(2, 5, 16, 16))
        >>> layer
        Conv2d(5, 8, kernel_size=(3, 3), stride=(1, 1))
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """A `Conv3d` that takes `in_channels` from its first input.

    Its parameters are uninitialized until the first call, which also turns the layer into a `Conv3d`. Call
    the model once before its parameters are given to an optimizer.

    Args:
        out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype: those
            of `Conv3d`

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: that of `Conv3d`.

    Example:
        >>> layer = nn.LazyConv3d(8, kernel_size=3)
        >>> output = layer(torch.randn(2, 5, 8, 8, 8))
        >>> layer
        Conv3d(5, 8, kernel_size=(3, 3, 3), stride=(1, 1, 1))
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """A `ConvTranspose1d` that takes `in_channels` from its first input.

    Its parameters are uninitialized until the first call, which also turns the layer into a
    `ConvTranspose1d`. Call the model once before its parameters are given to an optimizer.

    Args:
        out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode,
            device, dtype: those of `ConvTranspose1d`

    Shape:
        Input: (N, C, L) or (C, L).
        Output: that of `ConvTranspose1d`.

    Example:
        >>> layer = nn.LazyConvTranspose1d(8, kernel_size=3)
        >>> output = layer(torch.randn(2, 5, 16))
        >>> layer
        ConvTranspose1d(5, 8, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """A `ConvTranspose2d` that takes `in_channels` from its first input.

    Its parameters are uninitialized until the first call, which also turns the layer into a
    `ConvTranspose2d`. Call the model once before its parameters are given to an optimizer.

    Args:
        out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode,
            device, dtype: those of `ConvTranspose2d`

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: that of `ConvTranspose2d`.

    Example:
        >>> layer = nn.LazyConvTranspose2d(8, kernel_size=3)
        >>> output = layer(torch.randn(2, 5, 16, 16))
        >>> layer
        ConvTranspose2d(5, 8, kernel_size=(3, 3), stride=(1, 1))
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """A `ConvTranspose3d` that takes `in_channels` from its first input.

    Its parameters are uninitialized until the first call, which also turns the layer into a
    `ConvTranspose3d`. Call the model once before its parameters are given to an optimizer.

    Args:
        out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode,
            device, dtype: those of `ConvTranspose3d`

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: that of `ConvTranspose3d`.

    Example:
        >>> layer = nn.LazyConvTranspose3d(8, kernel_size=3)
        >>> output = layer(torch.randn(2, 5, 8, 8, 8))
        >>> layer
        ConvTranspose3d(5, 8, kernel_size=(3, 3, 3), stride=(1, 1, 1))
    """

    cls_to_become = ConvTranspose3d
