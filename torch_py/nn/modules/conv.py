"""Convolutions."""

from __future__ import annotations

import math
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


class Conv2d(Module):
    """Slides `out_channels` kernels over images: (N, C, H, W) or (C, H, W) to (N, O, H', W') or (O, H', W').

    H' = floor((H + 2 padding - dilation (kernel - 1) - 1) / stride + 1). weight (O, C / groups, kH, kW) and bias (O,) start uniform in
    ±1 / sqrt(C / groups * kH * kW). Raises ValueError for channels that `groups` does not divide and for unknown padding.
    """

    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(in_channels, out_channels, groups, padding, padding_mode, _pair(stride))
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = _pair(kernel_size), _pair(stride), _pair(dilation)
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        self.padding_mode = padding_mode
        self._padding_widths = self._widths()
        self.weight = Parameter(_torch.empty((out_channels, in_channels // groups, *self.kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _widths(self) -> list[int]:
        """`padding` as `F.pad` takes it."""
        if isinstance(self.padding, tuple):
            return [width for size in reversed(self.padding) for width in (size, size)]
        if self.padding == "valid":
            return [0, 0, 0, 0]
        totals = [dilation * (size - 1) for dilation, size in zip(self.dilation, self.kernel_size)]
        return [width for total in reversed(totals) for width in (total // 2, total - total // 2)]

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.shape[1] * self.kernel_size[0] * self.kernel_size[1]
            if fan_in != 0:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def forward(self, input: Tensor) -> Tensor:
        if self.padding_mode != "zeros":
            input = F.pad(input, self._padding_widths, mode=self.padding_mode)
            return F.conv2d(input, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0, 0):
            text += f", padding={self.padding}"
        if self.dilation != (1, 1):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


def _check(in_channels: int, out_channels: int, groups: int, padding: Any, padding_mode: str, stride: tuple[int, int]) -> None:
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
        raise ValueError(f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'")
