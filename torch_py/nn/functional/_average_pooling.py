"""Average pooling and power-average pooling over one to three dimensions, as functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn.functional._max_pooling import max_pool1d, max_pool2d, max_pool3d
from torch_py.nn.functional._ranks import per_dimension

__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d"]

_averages: dict[int, Callable[..., Tensor]] = {1: _torch.avg_pool1d, 2: _nn.avg_pool2d, 3: _nn.avg_pool3d}
_relu = _torch.relu


def avg_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of a sequence. Padding counts as zeros unless `count_include_pad` is False.

    Args:
        input: (N, C, L) or (C, L)
        kernel_size: the size of the windows
        stride: the distance between two windows; default `kernel_size`
        padding: the width of zeros on both sides, at most half the size of the window; default 0
        ceil_mode: whether to round sizes up instead of down; default False
        count_include_pad: whether padding counts as elements of the mean; default True

    Example:
        >>> F.avg_pool1d(torch.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
        tensor([[2., 6.]])
    """
    return _averages[1](
        input, kernel_size, [] if stride is None else stride, padding, ceil_mode, count_include_pad
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of each window of an image.

    Padding counts as zeros unless `count_include_pad` is False; `divisor_override` divides the sum in place
    of the number of elements.

    Args:
        input: (N, C, H, W) or (C, H, W)
        kernel_size: the size of the windows, one number or one per dimension
        stride: the distance between two windows; default `kernel_size`
        padding: the width of zeros on both sides, at most half the size of the window; default 0
        ceil_mode: whether to round sizes up instead of down; default False
        count_include_pad: whether padding counts as elements of the mean; default True
        divisor_override: what sums are divided by instead of the number of elements; default None

    Example:
        >>> F.avg_pool2d(torch.ones(1, 2, 4, 4), 2).shape
        torch.Size([1, 2, 2, 2])
    """
    windows = (kernel_size, [] if stride is None else stride, padding, ceil_mode)
    return _averages[2](input, *windows, count_include_pad, divisor_override, out=out)


def avg_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of each window of a volume.

    Padding counts as zeros unless `count_include_pad` is False; `divisor_override` divides the sum in place
    of the number of elements.

    Args:
        input: (N, C, D, H, W) or (C, D, H, W)
        kernel_size: the size of the windows, one number or one per dimension
        stride: the distance between two windows; default `kernel_size`
        padding: the width of zeros on both sides, at most half the size of the window; default 0
        ceil_mode: whether to round sizes up instead of down; default False
        count_include_pad: whether padding counts as elements of the mean; default True
        divisor_override: what sums are divided by instead of the number of elements; default None

    Example:
        >>> F.avg_pool3d(torch.ones(1, 2, 4, 4, 4), 2).shape
        torch.Size([1, 2, 2, 2, 2])
    """
    windows = (kernel_size, [] if stride is None else stride, padding, ceil_mode)
    return _averages[3](input, *windows, count_include_pad, divisor_override, out=out)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The power average of each window of sequences:

        y = (Σ xᵖ)^(1/p)    with p = norm_type

    Args:
        input: (N, C, L) or (C, L)
        norm_type: the power p
        kernel_size: the size of the windows, one number or one per dimension
        stride: the distance between two windows; default `kernel_size`
        ceil_mode: whether to round sizes up instead of down; default False

    Example:
        >>> F.lp_pool1d(torch.ones(1, 2, 8), 2, 2).shape
        torch.Size([1, 2, 4])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The power average of each window of images:

        y = (Σ xᵖ)^(1/p)    with p = norm_type

    Args:
        input: (N, C, H, W) or (C, H, W)
        norm_type: the power p
        kernel_size: the size of the windows, one number or one per dimension
        stride: the distance between two windows; default `kernel_size`
        ceil_mode: whether to round sizes up instead of down; default False

    Example:
        >>> F.lp_pool2d(torch.ones(1, 2, 8, 8), 2, 2).shape
        torch.Size([1, 2, 4, 4])
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The power average of each window of volumes:

        y = (Σ xᵖ)^(1/p)    with p = norm_type

    Args:
        input: (N, C, D, H, W) or (C, D, H, W)
        norm_type: the power p
        kernel_size: the size of the windows, one number or one per dimension
        stride: the distance between two windows; default `kernel_size`
        ceil_mode: whether to round sizes up instead of down; default False

    Example:
        >>> F.lp_pool3d(torch.ones(1, 2, 4, 4, 4), 2, 2).shape
        torch.Size([1, 2, 2, 2, 2])
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(
    rank: int,
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    ceil_mode: bool,
) -> Tensor:
    """(sum of x ** p) ** (1 / p) of each window; for p = ±infinity the largest or smallest |x|.

    A window of zeros has gradient zero in place of an infinite one.
    """
    kernel = per_dimension(kernel_size, rank)
    step = [] if stride is None else per_dimension(stride, rank)

    if norm_type in (math.inf, -math.inf):
        largest = (max_pool1d, max_pool2d, max_pool3d)[rank - 1]
        sign = math.copysign(1.0, norm_type)
        return largest(input.abs() * sign, kernel, step or None, ceil_mode=ceil_mode) * sign

    average = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]
    mean = average(input.pow(norm_type), kernel, step, 0, ceil_mode)
    return (mean.sign() * _relu(mean.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)
