"""Max pooling and unpooling layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _ntuple

__all__ = ["MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxPoolNd(Module):
    """Settings of max pooling. `stride` is the size of the window by default."""

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        pool = type(self)._function
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """Takes the largest element of each window of a sequence.

    Padding never wins: it counts as -∞. NaN in a window makes the result NaN.

    Args:
        kernel_size: the size of the windows: an integer
        stride: the distance between two windows; default `kernel_size`
        padding: the width added on both sides, at most half the size of the window; default 0
        dilation: the distance between two elements of a window; default 1
        return_indices: whether to return the positions of the maxima too, which `MaxUnpool1d` takes; default
            False
        ceil_mode: whether to round sizes up instead of down, with windows that begin inside and end outside;
            default False

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), where each size is floor((size + 2 · padding - dilation · (kernel_size
            - 1) - 1) / stride) + 1. With `return_indices` a pair with int64 positions in the flattened
            sequence.

    Example:
        >>> nn.MaxPool1d(2)(torch.randn(4, 3, 16)).shape
        torch.Size([4, 3, 8])
    """

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """Takes the largest element of each window of an image.

    Padding never wins: it counts as -∞. NaN in a window makes the result NaN.

    Args:
        kernel_size: the size of the windows: an integer, or (height, width)
        stride: the distance between two windows; default `kernel_size`
        padding: the width added on both sides, at most half the size of the window; default 0
        dilation: the distance between two elements of a window; default 1
        return_indices: whether to return the positions of the maxima too, which `MaxUnpool2d` takes; default
            False
        ceil_mode: whether to round sizes up instead of down, with windows that begin inside and end outside;
            default False

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), where each size is floor((size + 2 · padding - dilation ·
            (kernel_size - 1) - 1) / stride) + 1. With `return_indices` a pair with int64 positions in the
            flattened image.

    Example:
        >>> nn.MaxPool2d(2)(torch.randn(4, 3, 16, 16)).shape
        torch.Size([4, 3, 8, 8])
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """Takes the largest element of each window of a volume.

    Padding never wins: it counts as -∞. NaN in a window makes the result NaN.

    Args:
        kernel_size: the size of the windows: an integer, or (depth, height, width)
        stride: the distance between two windows; default `kernel_size`
        padding: the width added on both sides, at most half the size of the window; default 0
        dilation: the distance between two elements of a window; default 1
        return_indices: whether to return the positions of the maxima too, which `MaxUnpool3d` takes; default
            False
        ceil_mode: whether to round sizes up instead of down, with windows that begin inside and end outside;
            default False

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), where each size is floor((size + 2 · padding - dilation
            · (kernel_size - 1) - 1) / stride) + 1. With `return_indices` a pair with int64 positions in the
            flattened volume.

    Example:
        >>> nn.MaxPool3d(2)(torch.randn(4, 3, 8, 8, 8)).shape
        torch.Size([4, 3, 4, 4, 4])
    """

    _function = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    """Settings of the partial inverse of max pooling; they are those of the pooling."""

    _rank: int
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
    ) -> None:
        super().__init__()
        each = _ntuple(self._rank)
        self.kernel_size = each(kernel_size)
        self.stride = each(kernel_size if stride is None else stride)
        self.padding = each(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        unpool = type(self)._function
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts maxima back where `MaxPool1d` found them, with zeros elsewhere: its inverse, as far as there is
    one.

    Args:
        kernel_size: the size of the windows of the pooling: an integer
        stride: their distance; default `kernel_size`
        padding: their padding; default 0

    The layer is called with the maxima, their indices and optionally `output_size`, which chooses one of the
    input sizes that give the same output size when pooled.

    Shape:
        Input: (N, C, L) or (C, L), and indices of the same shape.
        Output: (N, C, L') or (C, L'), where each size is (size - 1) · stride - 2 · padding + kernel_size, or
            that of `output_size`.

    Example:
        >>> maxima, indices = nn.MaxPool1d(2, return_indices=True)(torch.randn(1, 1, 16))
        >>> nn.MaxUnpool1d(2)(maxima, indices).shape
        torch.Size([1, 1, 16])
    """

    _rank = 1
    _function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts maxima back where `MaxPool2d` found them, with zeros elsewhere: its inverse, as far as there is
    one.

    Args:
        kernel_size: the size of the windows of the pooling: an integer, or (height, width)
        stride: their distance; default `kernel_size`
        padding: their padding; default 0

    The layer is called with the maxima, their indices and optionally `output_size`, which chooses one of the
    input sizes that give the same output size when pooled.

    Shape:
        Input: (N, C, H, W) or (C, H, W), and indices of the same shape.
        Output: (N, C, H', W') or (C, H', W'), where each size is (size - 1) · stride - 2 · padding +
            kernel_size, or that of `output_size`.

    Example:
        >>> maxima, indices = nn.MaxPool2d(2, return_indices=True)(torch.randn(1, 1, 16, 16))
        >>> nn.MaxUnpool2d(2)(maxima, indices).shape
        torch.Size([1, 1, 16, 16])
    """

    _rank = 2
    _function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts maxima back where `MaxPool3d` found them, with zeros elsewhere: its inverse, as far as there is
    one.

    Args:
        kernel_size: the size of the windows of the pooling: an integer, or (depth, height, width)
        stride: their distance; default `kernel_size`
        padding: their padding; default 0

    The layer is called with the maxima, their indices and optionally `output_size`, which chooses one of the
    input sizes that give the same output size when pooled.

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W), and indices of the same shape.
        Output: (N, C, D', H', W') or (C, D', H', W'), where each size is (size - 1) · stride - 2 · padding +
            kernel_size, or that of `output_size`.

    Example:
        >>> maxima, indices = nn.MaxPool3d(2, return_indices=True)(torch.randn(1, 1, 8, 8, 8))
        >>> nn.MaxUnpool3d(2)(maxima, indices).shape
        torch.Size([1, 1, 8, 8, 8])
    """

    _rank = 3
    _function = staticmethod(F.max_unpool3d)
