"""Pooling over one to three dimensions, as functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def _tuple(value: float | Sequence[float], count: int) -> tuple[Any, ...]:
    """Returns one value per dimension."""
    return (value,) * count if isinstance(value, (int, float)) else tuple(value)


_averages: dict[int, Callable[..., Tensor]] = {1: _torch.avg_pool1d, 2: _nn.avg_pool2d, 3: _nn.avg_pool3d}
adaptive_avg_pool1d = _torch.adaptive_avg_pool1d
_adaptive_averages = {2: _nn.adaptive_avg_pool2d, 3: _nn.adaptive_avg_pool3d}
_adaptive_maxima = {1: _torch.adaptive_max_pool1d, 2: _nn.adaptive_max_pool2d, 3: _nn.adaptive_max_pool3d}
_maxima = {1: _torch.max_pool1d, 2: _torch.max_pool2d, 3: _torch.max_pool3d}
_maxima_with_indices = {
    1: _torch.max_pool1d_with_indices,
    2: _nn.max_pool2d_with_indices,
    3: _nn.max_pool3d_with_indices,
}
_fractional_maxima = {2: _nn.fractional_max_pool2d, 3: _nn.fractional_max_pool3d}
_relu = _torch.relu
_max_unpool2d = _nn.max_unpool2d
_max_unpool3d = _nn.max_unpool3d


# Maxima
# ------------------------------------------------------------


def _max_pool(rank: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Makes the two functions for max pooling over `rank` dimensions."""
    pooled = _maxima[rank]
    pooled_with_indices = _maxima_with_indices[rank]

    def max_pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The largest element of each window of sequences, images or volumes.

        Args:
            input: (N, C, ...) or (C, ...), with as many spatial dimensions as the name says
            kernel_size: the size of the windows, one number or one per dimension
            stride: the distance between two windows; default `kernel_size`
            padding: the width on both sides, at most half the size of the window; default 0
            dilation: the distance between two elements of a window; default 1
            ceil_mode: whether to round sizes up instead of down; default False
            return_indices: whether to return positions in the flattened plane too; default False

        Example:
            >>> F.max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)
            tensor([[[[ 5.,  7.],
                      [13., 15.]]]])
        """
        pool = pooled_with_indices if return_indices else pooled
        return pool(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)

    def max_pool_with_indices(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """The largest element of each window of sequences, images or volumes, and its position in the
        flattened plane.

        Args:
            input: (N, C, ...) or (C, ...), with as many spatial dimensions as the name says
            kernel_size: the size of the windows, one number or one per dimension
            stride: the distance between two windows; default `kernel_size`
            padding: the width on both sides, at most half the size of the window; default 0
            dilation: the distance between two elements of a window; default 1
            ceil_mode: whether to round sizes up instead of down; default False
            return_indices: has no effect

        Returns:
            A pair of values and positions.

        Example:
            >>> values, indices = F.max_pool1d_with_indices(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
            >>> indices
            tensor([[1, 2]])
        """
        return pooled_with_indices(
            input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
        )

    name = f"max_pool{rank}d"
    return _named(max_pool, name), _named(max_pool_with_indices, f"{name}_with_indices")


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Gives a function its public name."""
    function.__name__ = function.__qualname__ = name
    return function


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def _wanted(output_size: int | Sequence[int | None], shape: Sequence[int], rank: int) -> list[int]:
    """Returns the output sizes of adaptive pooling; None keeps the size of a dimension."""
    if not isinstance(output_size, (tuple, list)):
        if isinstance(output_size, bool) or not hasattr(output_size, "__index__"):
            raise TypeError(
                f"adaptive pooling: 'output_size' must be an int or a tuple of {rank}, not "
                f"{type(output_size).__name__}"
            )
        return [index(output_size)] * rank  # type: ignore[arg-type]

    if len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")

    present = shape[-len(output_size) :]
    return [old if new is None else new for new, old in zip(output_size, present)]


def _adaptive_max_pool(rank: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Makes the two functions for adaptive max pooling over `rank` dimensions."""
    pooled = _adaptive_maxima[rank]

    def adaptive_max_pool_with_indices(
        input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The largest elements of a given number of windows that cover sequences, images or volumes evenly,
        and their positions in the flattened plane.

        Args:
            input: (N, C, ...) or (C, ...), with as many spatial dimensions as the name says
            output_size: the number of windows, one number or one per dimension; None keeps the size of a
                dimension
            return_indices: has no effect

        Returns:
            A pair of values and positions.

        Example:
            >>> values, indices = F.adaptive_max_pool1d_with_indices(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
            >>> indices
            tensor([[1, 2]])
        """
        return pooled(input, _wanted(output_size, input.shape, rank))

    def adaptive_max_pool(
        input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The largest elements of a given number of windows that cover sequences, images or volumes evenly.

        Args:
            input: (N, C, ...) or (C, ...), with as many spatial dimensions as the name says
            output_size: the number of windows, one number or one per dimension; None keeps the size of a
                dimension
            return_indices: whether to return positions in the flattened plane too; default False

        Example:
            >>> F.adaptive_max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2)
            tensor([[[[ 5.,  7.],
                      [13., 15.]]]])
        """
        result = pooled(input, _wanted(output_size, input.shape, rank))
        return result if return_indices else result[0]

    name = f"adaptive_max_pool{rank}d"
    return _named(adaptive_max_pool, name), _named(adaptive_max_pool_with_indices, f"{name}_with_indices")


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """The means of a given number of windows that cover images evenly.

    Args:
        input: (N, C, H, W) or (C, H, W)
        output_size: the number of windows, one number or one per dimension; None keeps the size of a
            dimension

    Example:
        >>> F.adaptive_avg_pool2d(torch.ones(1, 2, 8, 8), 2).shape
        torch.Size([1, 2, 2, 2])
    """
    return _adaptive_averages[2](input, _wanted(output_size, input.shape, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """The means of a given number of windows that cover volumes evenly.

    Args:
        input: (N, C, D, H, W) or (C, D, H, W)
        output_size: the number of windows, one number or one per dimension; None keeps the size of a
            dimension

    Example:
        >>> F.adaptive_avg_pool3d(torch.ones(1, 2, 4, 4, 4), 2).shape
        torch.Size([1, 2, 2, 2, 2])
    """
    return _adaptive_averages[3](input, _wanted(output_size, input.shape, 3))


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


# Fractional maxima
# ------------------------------------------------------------


def _fractional(
    rank: int,
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None,
    output_ratio: float | Sequence[float] | None,
    random_samples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Returns the elements and positions of fractional max pooling over `rank` dimensions.

    Raises ValueError unless a size or a ratio is given.
    """
    name = f"fractional_max_pool{rank}d"
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        ratios = _tuple(output_ratio, rank)
        if len(ratios) > rank:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-rank:], ratios)]

    if random_samples is None:
        samples = 1 if input.dim() == rank + 1 else input.shape[0]
        random_samples = _torch.rand(
            samples, input.shape[-rank - 1], rank, dtype=input.dtype, device=input.device
        )

    return _fractional_maxima[rank](
        input, _tuple(kernel_size, rank), _tuple(output_size, rank), random_samples
    )


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of windows at random steps (Graham 2014).

    Args:
        input: (N, C, H, W) or (C, H, W)
        kernel_size: the size of the windows
        output_size: the size of the result; give either this or `output_ratio`
        output_ratio: the size of the result relative to that of the input, between 0 and 1
        return_indices: whether to return positions too; default False
        _random_samples: (N, C, 2), numbers from [0, 1) that decide the steps; default None, drawn

    Example:
        >>> F.fractional_max_pool2d(torch.ones(1, 2, 8, 8), 2, output_size=2).shape
        torch.Size([1, 2, 2, 2])
    """
    result = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows at random steps (Graham 2014), and their positions.

    Args:
        input: (N, C, H, W) or (C, H, W)
        kernel_size: the size of the windows
        output_size: the size of the result; give either this or `output_ratio`
        output_ratio: the size of the result relative to that of the input, between 0 and 1
        return_indices: has no effect
        _random_samples: (N, C, 2), numbers from [0, 1) that decide the steps; default None, drawn

    Returns:
        A pair of values and positions.

    Example:
        >>> values, indices = F.fractional_max_pool2d_with_indices(torch.ones(1, 2, 8, 8), 2, output_size=2)
        >>> values.shape
        torch.Size([1, 2, 2, 2])
    """
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of windows at random steps (Graham 2014).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W)
        kernel_size: the size of the windows
        output_size: the size of the result; give either this or `output_ratio`
        output_ratio: the size of the result relative to that of the input, between 0 and 1
        return_indices: whether to return positions too; default False
        _random_samples: (N, C, 3), numbers from [0, 1) that decide the steps; default None, drawn

    Example:
        >>> F.fractional_max_pool3d(torch.ones(1, 2, 4, 4, 4), 2, output_size=2).shape
        torch.Size([1, 2, 2, 2, 2])
    """
    result = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows at random steps (Graham 2014), and their positions.

    Args:
        input: (N, C, D, H, W) or (C, D, H, W)
        kernel_size: the size of the windows
        output_size: the size of the result; give either this or `output_ratio`
        output_ratio: the size of the result relative to that of the input, between 0 and 1
        return_indices: has no effect
        _random_samples: (N, C, 3), numbers from [0, 1) that decide the steps; default None, drawn

    Returns:
        A pair of values and positions.

    Example:
        >>> x = torch.ones(1, 2, 4, 4, 4)
        >>> values, indices = F.fractional_max_pool3d_with_indices(x, 2, output_size=2)
        >>> values.shape
        torch.Size([1, 2, 2, 2, 2])
    """
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


# Unpooling
# ------------------------------------------------------------


def _unpooled_size(
    input: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Sequence[int] | None,
) -> list[int]:
    """Returns the size before pooling.

    `output_size`, with or without the batch and channel sizes, chooses among the sizes that pooling maps to
    the same result.
    """
    rank = len(kernel)
    if input.dim() < rank:
        raise IndexError(
            f"max_unpool{rank}d: expected an input of {rank + 1} or {rank + 2} dimensions, got size "
            f"{tuple(input.shape)}"
        )

    usual = [
        (int(size) - 1) * step + window - 2 * border
        for size, window, step, border in zip(input.shape[-rank:], kernel, stride, padding, strict=True)
    ]

    if output_size is None:
        for dim, size in enumerate(usual):
            if size < 0:
                raise ValueError(
                    "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                    f"output_size[{dim}]={size}"
                )
        return usual

    chosen = [int(size) for size in output_size]
    if len(chosen) == rank + 2:
        chosen = chosen[2:]
    if len(chosen) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a "
            f"length of '{len(chosen)}'"
        )

    for dim, (size, middle, step) in enumerate(zip(chosen, usual, stride)):
        if not middle - step < size < middle + step:
            raise ValueError(
                f'invalid output_size "{chosen}" (dim {dim} must be between {middle - step} and '
                f"{middle + step})"
            )

    return chosen


def _windows(
    rank: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns kernel, stride and padding as tuples. Raises ValueError for a wrong number of values."""
    kernel = _tuple(kernel_size, rank)
    step = kernel if stride is None else _tuple(stride, rank)
    border = _tuple(padding, rank)

    for name, given in (("kernel_size", kernel), ("stride", step), ("padding", border)):
        if len(given) != rank:
            raise ValueError(
                f"max_unpool{rank}d: expected {name} to be an int or {rank} of them, got {given}"
            )

    return kernel, step, border


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Puts maxima back where `max_pool1d` found them, with zeros elsewhere.

    Args:
        input: the maxima, (N, C, L) or (C, L)
        indices: their positions, of the same shape
        kernel_size: the size of the windows of the pooling
        stride: their distance; default `kernel_size`
        padding: their padding; default 0
        output_size: the size of the result; default None, the smallest one that fits

    Example:
        >>> values, indices = F.max_pool1d(torch.ones(1, 2, 8), 2, return_indices=True)
        >>> F.max_unpool1d(values, indices, 2).shape
        torch.Size([1, 2, 8])
    """
    size = _unpooled_size(input, *_windows(1, kernel_size, stride, padding), output_size)
    return _max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Puts maxima back where `max_pool2d` found them, with zeros elsewhere.

    Args:
        input: the maxima, (N, C, H, W) or (C, H, W)
        indices: their positions, of the same shape
        kernel_size: the size of the windows of the pooling
        stride: their distance; default `kernel_size`
        padding: their padding; default 0
        output_size: the size of the result; default None, the smallest one that fits

    Example:
        >>> values, indices = F.max_pool2d(torch.ones(1, 2, 8, 8), 2, return_indices=True)
        >>> F.max_unpool2d(values, indices, 2).shape
        torch.Size([1, 2, 8, 8])
    """
    return _max_unpool2d(
        input, indices, _unpooled_size(input, *_windows(2, kernel_size, stride, padding), output_size)
    )


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Puts maxima back where `max_pool3d` found them, with zeros elsewhere.

    Args:
        input: the maxima, (N, C, D, H, W) or (C, D, H, W)
        indices: their positions, of the same shape
        kernel_size: the size of the windows of the pooling
        stride: their distance; default `kernel_size`
        padding: their padding; default 0
        output_size: the size of the result; default None, the smallest one that fits

    Example:
        >>> values, indices = F.max_pool3d(torch.ones(1, 2, 4, 4, 4), 2, return_indices=True)
        >>> F.max_unpool3d(values, indices, 2).shape
        torch.Size([1, 2, 4, 4, 4])
    """
    kernel, step, border = _windows(3, kernel_size, stride, padding)
    return _max_unpool3d(
        input, indices, _unpooled_size(input, kernel, step, border, output_size), step, border
    )


# Norms
# ------------------------------------------------------------


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
    kernel = _tuple(kernel_size, rank)
    step = [] if stride is None else _tuple(stride, rank)

    if norm_type in (math.inf, -math.inf):
        largest = (max_pool1d, max_pool2d, max_pool3d)[rank - 1]
        sign = math.copysign(1.0, norm_type)
        return largest(input.abs() * sign, kernel, step or None, ceil_mode=ceil_mode) * sign

    average = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]
    mean = average(input.pow(norm_type), kernel, step, 0, ceil_mode)
    return (mean.sign() * _relu(mean.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)


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
