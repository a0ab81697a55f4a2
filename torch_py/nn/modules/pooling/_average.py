"""Average pooling and power-average pooling layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _ntuple

__all__ = ["AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d"]


class _AvgPoolNd(Module):
    """Printing of average pooling layers."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """Takes the mean of each window of a sequence.

    Args:
        kernel_size: the size of the windows: an integer
        stride: the distance between two windows; default `kernel_size`
        padding: the width of zeros added on both sides, at most half the size of the window; default 0
        ceil_mode: whether to round sizes up instead of down; default False
        count_include_pad: whether padding counts as elements of the mean; default True

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), where each size is floor((size + 2 · padding - kernel_size) / stride) +
            1.

    Example:
        >>> nn.AvgPool1d(2)(torch.randn(4, 3, 16)).shape
        torch.Size([4, 3, 8])
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        each = _ntuple(1)
        self.kernel_size = each(kernel_size)
        self.stride = each(kernel_size if stride is None else stride)
        self.padding = each(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class _AvgPoolWithDivisor(_AvgPoolNd):
    """Settings of average pooling over two and three dimensions."""

    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        pool = type(self)._function
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolWithDivisor):
    """Takes the mean of each window of an image.

    Args:
        kernel_size: the size of the windows: an integer, or (height, width)
        stride: the distance between two windows; default `kernel_size`
        padding: the width of zeros added on both sides, at most half the size of the window; default 0
        ceil_mode: whether to round sizes up instead of down; default False
        count_include_pad: whether padding counts as elements of the mean; default True
        divisor_override: what sums are divided by instead of the number of elements; default None

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), where each size is floor((size + 2 · padding - kernel_size) /
            stride) + 1.

    Example:
        >>> nn.AvgPool2d(2)(torch.randn(4, 3, 16, 16)).shape
        torch.Size([4, 3, 8, 8])
    """

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolWithDivisor):
    """Takes the mean of each window of a volume.

    Args:
        kernel_size: the size of the windows: an integer, or (depth, height, width)
        stride: the distance between two windows; default `kernel_size`
        padding: the width of zeros added on both sides, at most half the size of the window; default 0
        ceil_mode: whether to round sizes up instead of down; default False
        count_include_pad: whether padding counts as elements of the mean; default True
        divisor_override: what sums are divided by instead of the number of elements; default None

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), where each size is floor((size + 2 · padding -
            kernel_size) / stride) + 1.

    Example:
        >>> nn.AvgPool3d(2)(torch.randn(4, 3, 8, 8, 8)).shape
        torch.Size([4, 3, 4, 4, 4])
    """

    _function = staticmethod(F.avg_pool3d)


class _LPPoolNd(Module):
    """Settings of power-average pooling. `stride` is the size of the window by default."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _function: Callable[..., Any]

    def __init__(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        pool = type(self)._function
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """Takes the power average of each window of a sequence:

        y = (Σ xᵖ)^(1/p)    with p = norm_type

    p = 1 gives the sum of a window; a large p approaches its maximum.

    Args:
        norm_type: the power p
        kernel_size: the size of the windows: an integer
        stride: the distance between two windows; default `kernel_size`
        ceil_mode: whether to round sizes up instead of down; default False

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), where each size is floor((size - kernel_size) / stride) + 1.

    Example:
        >>> nn.LPPool1d(2, kernel_size=2)(torch.ones(1, 1, 16)).flatten()[0]
        tensor(1.4142)
    """

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """Takes the power average of each window of an image:

        y = (Σ xᵖ)^(1/p)    with p = norm_type

    p = 1 gives the sum of a window; a large p approaches its maximum.

    Args:
        norm_type: the power p
        kernel_size: the size of the windows: an integer, or (height, width)
        stride: the distance between two windows; default `kernel_size`
        ceil_mode: whether to round sizes up instead of down; default False

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), where each size is floor((size - kernel_size) / stride) + 1.

    Example:
        >>> nn.LPPool2d(2, kernel_size=2)(torch.ones(1, 1, 16, 16)).flatten()[0]
        tensor(2.)
    """

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """Takes the power average of each window of a volume:

        y = (Σ xᵖ)^(1/p)    with p = norm_type

    p = 1 gives the sum of a window; a large p approaches its maximum.

    Args:
        norm_type: the power p
        kernel_size: the size of the windows: an integer, or (depth, height, width)
        stride: the distance between two windows; default `kernel_size`
        ceil_mode: whether to round sizes up instead of down; default False

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), where each size is floor((size - kernel_size) / stride)
            + 1.

    Example:
        >>> nn.LPPool3d(2, kernel_size=2)(torch.ones(1, 1, 8, 8, 8)).flatten()[0]
        tensor(2.8284)
    """

    _function = staticmethod(F.lp_pool3d)
