"""Convolution layers and transposed convolution layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._C import _torch
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.lazy import LazyModuleMixin
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from torch_py.nn.parameter import Parameter, UninitializedParameter
from torch_py.types import Device, _dtype

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """Settings, weight and bias of a convolution. Both parameters start uniform in ±1 / sqrt(fan_in)."""

    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, padding, padding_mode, stride)

        self.in_channels = in_channels
        self.out_channels = out_channels
        self.groups = groups
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._widths()
        channels = (
            (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        )
        self.weight = Parameter(_torch.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)

        self.reset_parameters()

    def _widths(self) -> list[int]:
        """Returns `padding` in the order of `F.pad`.

        Where 'same' needs an odd total, the larger half comes after.
        """
        if not isinstance(self.padding, str):
            return list(_reverse_repeat_tuple(self.padding, 2))
        if self.padding == "valid":
            return [0] * (2 * len(self.kernel_size))
        totals = [dilation * (size - 1) for dilation, size in zip(self.dilation, self.kernel_size)]
        return [width for total in reversed(totals) for width in (total // 2, total - total // 2)]

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan_in = math.prod(self.weight.shape[1:])
        if self.bias is not None and fan_in != 0:
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        def differs(values: str | tuple[int, ...], usual: int) -> bool:
            return bool(values != (usual,) * len(values))

        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        ]
        if differs(self.padding, 0):
            parts.append(f"padding={self.padding}")
        if differs(self.dilation, 1):
            parts.append(f"dilation={self.dilation}")
        if differs(self.output_padding, 0):
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")

        return ", ".join(parts)


def _check(
    in_channels: int,
    out_channels: int,
    groups: int,
    padding: str | tuple[int, ...],
    padding_mode: str,
    stride: tuple[int, ...],
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")

    if isinstance(padding, str) and padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
    if padding == "same" and any(step != 1 for step in stride):
        raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'"
        )


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


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution over `_rank` dimensions, computed by `_function`."""

    _rank: int
    _function: Callable[..., Tensor]
    padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')

        each = _ntuple(self._rank)
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size),
            each(stride),
            each(padding),
            each(dilation),
            True,
            each(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """Returns the output padding that gives `output_size`, which may include the batch and channel sizes.

        Raises ValueError if none does.
        """
        if output_size is None:
            return self.output_padding

        # The spatial sizes asked for.
        rank = self._rank
        leading = input.dim() - rank
        wanted = [int(size) for size in output_size]
        if len(wanted) == leading + rank:
            wanted = wanted[leading:]
        if len(wanted) != rank:
            raise ValueError(
                f"ConvTranspose{rank}D: for {input.dim()}D input, output_size must have {rank} or "
                f"{leading + rank} elements (got {len(wanted)})"
            )

        # Sizes for an output padding of 0 and of one less than the stride.
        smallest = [
            (int(input.shape[leading + d]) - 1) * self.stride[d]
            - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(rank)
        ]
        largest = [size + step - 1 for size, step in zip(smallest, self.stride)]

        for size, low, high in zip(wanted, smallest, largest):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {wanted}, but valid sizes range from {smallest} to "
                    f"{largest} (for an input of {tuple(input.shape[2:])})"
                )

        return tuple(size - low for size, low in zip(wanted, smallest))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self._output_padding(input, output_size)
        convolve = type(self)._function
        return convolve(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Applies a transposed convolution to sequences: the gradient of `Conv1d` with respect to its input, as a
    layer.

    It maps shapes of outputs of a `Conv1d` with the same arguments to shapes of its inputs, and so enlarges
    by `stride`. Every element of the input adds a copy of the filter, times the element, to the output.

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of channels O of the output
        kernel_size: the size of the filters: an integer
        stride: the distance between two copies of the filter; default 1
        padding: the width that is cut off on both sides of each spatial dimension; default 0
        output_padding: the size added at the end of each spatial dimension of the output, as several input
            sizes of a convolution with stride give the same output size; default 0
        groups: the number of groups into which channels are split; default 1
        bias: whether to add a learned bias to each output channel; default True
        dilation: the distance between two elements of the filter; default 1
        padding_mode: only 'zeros'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, O, L') or (O, L'), where each size is (size - 1) · stride - 2 · padding + dilation ·
            (kernel_size - 1) + output_padding + 1.
        weight: (C, O / groups, K).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or `padding_mode` is not 'zeros'

    Example:
        >>> layer = nn.ConvTranspose1d(8, 3, kernel_size=4, stride=2, padding=1)
        >>> layer(torch.randn(4, 8, 16)).shape
        torch.Size([4, 3, 32])
    """

    _rank = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Applies a transposed convolution to images: the gradient of `Conv2d` with respect to its input, as a
    layer.

    It maps shapes of outputs of a `Conv2d` with the same arguments to shapes of its inputs, and so enlarges
    by `stride`. Every element of the input adds a copy of the filter, times the element, to the output.

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of channels O of the output
        kernel_size: the size of the filters: an integer, or (height, width)
        stride: the distance between two copies of the filter; default 1
        padding: the width that is cut off on both sides of each spatial dimension; default 0
        output_padding: the size added at the end of each spatial dimension of the output, as several input
            sizes of a convolution with stride give the same output size; default 0
        groups: the number of groups into which channels are split; default 1
        bias: whether to add a learned bias to each output channel; default True
        dilation: the distance between two elements of the filter; default 1
        padding_mode: only 'zeros'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, O, H', W') or (O, H', W'), where each size is (size - 1) · stride - 2 · padding + dilation
            · (kernel_size - 1) + output_padding + 1.
        weight: (C, O / groups, KH, KW).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or `padding_mode` is not 'zeros'

    Example:
        >>> layer = nn.ConvTranspose2d(8, 3, kernel_size=4, stride=2, padding=1)
        >>> layer(torch.randn(4, 8, 16, 16)).shape
        torch.Size([4, 3, 32, 32])
    """

    _rank = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Applies a transposed convolution to volumes: the gradient of `Conv3d` with respect to its input, as a
    layer.

    It maps shapes of outputs of a `Conv3d` with the same arguments to shapes of its inputs, and so enlarges
    by `stride`. Every element of the input adds a copy of the filter, times the element, to the output.

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of channels O of the output
        kernel_size: the size of the filters: an integer, or (depth, height, width)
        stride: the distance between two copies of the filter; default 1
        padding: the width that is cut off on both sides of each spatial dimension; default 0
        output_padding: the size added at the end of each spatial dimension of the output, as several input
            sizes of a convolution with stride give the same output size; default 0
        groups: the number of groups into which channels are split; default 1
        bias: whether to add a learned bias to each output channel; default True
        dilation: the distance between two elements of the filter; default 1
        padding_mode: only 'zeros'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, O, D', H', W') or (O, D', H', W'), where each size is (size - 1) · stride - 2 · padding +
            dilation · (kernel_size - 1) + output_padding + 1.
        weight: (C, O / groups, KD, KH, KW).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or `padding_mode` is not 'zeros'

    Example:
        >>> layer = nn.ConvTranspose3d(8, 3, kernel_size=4, stride=2, padding=1)
        >>> layer(torch.randn(4, 8, 8, 8, 8)).shape
        torch.Size([4, 3, 16, 16, 16])
    """

    _rank = 3
    _function = staticmethod(F.conv_transpose3d)


class _LazyConv(LazyModuleMixin, _ConvNd):
    """A convolution that takes `in_channels` from its first input."""

    _rank: int
    weight: Any
    bias: Any

    def _wait(self, out_channels: int, groups: int, bias: bool, device: Device, dtype: _dtype | None) -> None:
        """Sets what is known of the layer and leaves the parameters without shapes."""
        _check(0, out_channels, groups, self.padding, self.padding_mode, self.stride)
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


__getattr__ = _lacking(__name__)
