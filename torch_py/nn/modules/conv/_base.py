"""Settings and parameters of all convolution layers."""

from __future__ import annotations

import math

from torch_py._C import _torch
from torch_py.nn import init
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _reverse_repeat_tuple
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype

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
        check_settings(in_channels, out_channels, groups, padding, padding_mode, stride)

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


def check_settings(
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
