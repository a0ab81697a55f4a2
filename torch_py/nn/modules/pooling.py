"""Pooling layers for sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W), with or without
the batch dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _ntuple

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


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


class _FractionalMaxPoolNd(Module):
    """Settings of fractional max pooling: the result has `output_size`, or `output_ratio` (between 0 and 1)
    times the input's size."""

    _rank: int
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        each = _ntuple(self._rank)
        name = type(self).__name__
        self.kernel_size = each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = each(output_size) if output_size is not None else None
        self.output_ratio = each(output_ratio) if output_ratio is not None else None

        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        pool = type(self)._function
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Takes the largest elements of windows at random steps, which reduces an image by a factor that need not
    be an integer.

    Source: Graham, Fractional max-pooling (2014).

    Args:
        kernel_size: the size of the windows: an integer, or (height, width)
        output_size: the size of the result; give either this or `output_ratio`
        output_ratio: the size of the result relative to that of the input, between 0 and 1
        return_indices: whether to return the positions of the maxima too; default False
        _random_samples: (N, C, 2), numbers from [0, 1) that decide the steps; drawn in each call by default

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W').

    Raises:
        ValueError: neither or both of `output_size` and `output_ratio` are given, or a ratio is not between 0
            and 1

    Example:
        >>> nn.FractionalMaxPool2d(2, output_ratio=0.7)(torch.randn(2, 3, 16, 16)).shape
        torch.Size([2, 3, 11, 11])
    """

    _rank = 2
    _function = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Takes the largest elements of windows at random steps, which reduces a volume by a factor that need not
    be an integer.

    Source: Graham, Fractional max-pooling (2014).

    Args:
        kernel_size: the size of the windows: an integer, or (depth, height, width)
        output_size: the size of the result; give either this or `output_ratio`
        output_ratio: the size of the result relative to that of the input, between 0 and 1
        return_indices: whether to return the positions of the maxima too; default False
        _random_samples: (N, C, 3), numbers from [0, 1) that decide the steps; drawn in each call by default

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W').

    Raises:
        ValueError: neither or both of `output_size` and `output_ratio` are given, or a ratio is not between 0
            and 1

    Example:
        >>> nn.FractionalMaxPool3d(2, output_ratio=0.7)(torch.randn(2, 3, 8, 8, 8)).shape
        torch.Size([2, 3, 5, 5, 5])
    """

    _rank = 3
    _function = staticmethod(F.fractional_max_pool3d)


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


class _AdaptivePoolNd(Module):
    """Settings of adaptive pooling: one output size for all dimensions or
    one for each; None keeps the size of a dimension."""

    __constants__ = ["output_size"]
    _function: Callable[..., Any]

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        pool = type(self)._function
        return pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePoolNd):
    """Takes the mean of each of a given number of windows that cover a sequence evenly.

    Window i of S along a dimension of size L begins at floor(i · L / S) and ends before ceil((i + 1) · L /
    S), so that any size can be reduced to the same one.

    Args:
        output_size: the number of windows of each dimension: one integer

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L') with the sizes of `output_size`.

    Example:
        >>> nn.AdaptiveAvgPool1d(4)(torch.randn(2, 3, 16)).shape
        torch.Size([2, 3, 4])
    """

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptivePoolNd):
    """Takes the mean of each of a given number of windows that cover an image evenly.

    Window i of S along a dimension of size L begins at floor(i · L / S) and ends before ceil((i + 1) · L /
    S), so that any size can be reduced to the same one.

    Args:
        output_size: the number of windows of each dimension: an integer, or (height, width); None keeps the
            size of a dimension

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W') with the sizes of `output_size`.

    Example:
        >>> nn.AdaptiveAvgPool2d((4, None))(torch.randn(2, 3, 16, 16)).shape
        torch.Size([2, 3, 4, 16])
    """

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptivePoolNd):
    """Takes the mean of each of a given number of windows that cover a volume evenly.

    Window i of S along a dimension of size L begins at floor(i · L / S) and ends before ceil((i + 1) · L /
    S), so that any size can be reduced to the same one.

    Args:
        output_size: the number of windows of each dimension: an integer, or (depth, height, width); None
            keeps the size of a dimension

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W') with the sizes of `output_size`.

    Example:
        >>> nn.AdaptiveAvgPool3d((4, 2, None))(torch.randn(2, 3, 8, 8, 8)).shape
        torch.Size([2, 3, 4, 2, 8])
    """

    _function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    """Settings of adaptive max pooling."""

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        pool = type(self)._function
        return pool(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Takes the largest element of each of a given number of windows that cover a sequence evenly.

    Window i of S along a dimension of size L begins at floor(i · L / S) and ends before ceil((i + 1) · L /
    S), so that any size can be reduced to the same one.

    Args:
        output_size: the number of windows of each dimension: one integer
        return_indices: whether to return the positions of the maxima too; default False

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L') with the sizes of `output_size`.

    Example:
        >>> nn.AdaptiveMaxPool1d(4)(torch.randn(2, 3, 16)).shape
        torch.Size([2, 3, 4])
    """

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Takes the largest element of each of a given number of windows that cover an image evenly.

    Window i of S along a dimension of size L begins at floor(i · L / S) and ends before ceil((i + 1) · L /
    S), so that any size can be reduced to the same one.

    Args:
        output_size: the number of windows of each dimension: an integer, or (height, width); None keeps the
            size of a dimension
        return_indices: whether to return the positions of the maxima too; default False

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W') with the sizes of `output_size`.

    Example:
        >>> nn.AdaptiveMaxPool2d((4, None))(torch.randn(2, 3, 16, 16)).shape
        torch.Size([2, 3, 4, 16])
    """

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Takes the largest element of each of a given number of windows that cover a volume evenly.

    Window i of S along a dimension of size L begins at floor(i · L / S) and ends before ceil((i + 1) · L /
    S), so that any size can be reduced to the same one.

    Args:
        output_size: the number of windows of each dimension: an integer, or (depth, height, width); None
            keeps the size of a dimension
        return_indices: whether to return the positions of the maxima too; default False

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W') with the sizes of `output_size`.

    Example:
        >>> nn.AdaptiveMaxPool3d((4, 2, None))(torch.randn(2, 3, 8, 8, 8)).shape
        torch.Size([2, 3, 4, 2, 8])
    """

    _function = staticmethod(F.adaptive_max_pool3d)


__getattr__ = _lacking(__name__)
