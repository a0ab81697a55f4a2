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


def _tuple(value: Any, count: int) -> tuple[Any, ...]:
    """One value for every dimension."""
    return (value,) * count if isinstance(value, (int, float)) else tuple(value)


_averages = {1: _torch.avg_pool1d, 2: _nn.avg_pool2d, 3: _nn.avg_pool3d}
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
    pooled, pooled_with_indices = _maxima[rank], _maxima_with_indices[rank]

    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The largest element under each position of a window; with `return_indices` also where it was,
        counted within one plane."""
        pool = pooled_with_indices if return_indices else pooled
        return pool(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode)

    def max_pool_with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The largest element under each position of a window, and where it was, counted within one plane."""
        return pooled_with_indices(
            input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode
        )

    return _named(max_pool, f"max_pool{rank}d"), _named(
        max_pool_with_indices, f"max_pool{rank}d_with_indices"
    )


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


def _wanted(output_size: Any, shape: Sequence[int], rank: int) -> list[int]:
    """Sizes of adaptive pooling; None keeps a dimension as it is."""
    if not isinstance(output_size, (tuple, list)):
        if isinstance(output_size, bool) or not hasattr(output_size, "__index__"):
            raise TypeError(
                f"adaptive pooling: 'output_size' must be an int or a tuple of {rank}, not "
                f"{type(output_size).__name__}"
            )
        return [index(output_size)] * rank
    if len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return [
        present if size is None else size for size, present in zip(output_size, shape[-len(output_size) :])
    ]


def _adaptive_max_pool(rank: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    pooled = _adaptive_maxima[rank]

    def adaptive_max_pool_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        """Maxima of windows chosen so that the result has `output_size`, and where they were, counted within
        one plane."""
        return pooled(input, _wanted(output_size, input.shape, rank))

    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        """Maxima of windows chosen so that the result has `output_size`, with `return_indices` also where
        they were."""
        result = pooled(input, _wanted(output_size, input.shape, rank))
        return result if return_indices else result[0]

    return _named(adaptive_max_pool, f"adaptive_max_pool{rank}d"), _named(
        adaptive_max_pool_with_indices, f"adaptive_max_pool{rank}d_with_indices"
    )


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows chosen so that the result has `output_size`; None keeps a dimension as it is."""
    return _adaptive_averages[2](input, _wanted(output_size, input.shape, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows chosen so that the result has `output_size`; None keeps a dimension as it is."""
    return _adaptive_averages[3](input, _wanted(output_size, input.shape, 3))


def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window; padding counts as zeros unless `count_include_pad` is False."""
    return _averages[1](
        input, kernel_size, [] if stride is None else stride, padding, ceil_mode, count_include_pad
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of each window; padding counts as zeros unless `count_include_pad` is False;
    `divisor_override` replaces the count."""
    given = {} if out is None else {"out": out}
    return _averages[2](
        input,
        kernel_size,
        [] if stride is None else stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        **given,
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of each window; padding counts as zeros unless `count_include_pad` is False;
    `divisor_override` replaces the count."""
    given = {} if out is None else {"out": out}
    return _averages[3](
        input,
        kernel_size,
        [] if stride is None else stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        **given,
    )


# Random steps
# ------------------------------------------------------------


def _fractional(
    rank: int,
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    random_samples: Tensor | None,
) -> Any:
    name = f"fractional_max_pool{rank}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = _tuple(output_ratio, rank)
        if len(ratios) > rank:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-rank:], ratios)]
    if random_samples is None:
        samples = 1 if input.dim() == rank + 1 else input.shape[0]
        random_samples = _torch.rand(
            samples, input.shape[-rank - 1], rank, dtype=input.dtype, device=input.device
        )
    result = _fractional_maxima[rank](
        input, _tuple(kernel_size, rank), _tuple(output_size, rank), random_samples
    )
    return result if return_indices else result[0]


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Maxima of windows in random steps that fit `output_size`, or `output_ratio` times the input's size."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    return _fractional(2, input, kernel_size, output_size, output_ratio, True, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Maxima of windows in random steps that fit `output_size`, or `output_ratio` times the input's size."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    return _fractional(3, input, kernel_size, output_size, output_ratio, True, _random_samples)


# Back to where the maxima were
# ------------------------------------------------------------


def _unpooled_size(
    input: Tensor, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], output_size: Any
) -> list[int]:
    """The size before pooling; `output_size`, which may name samples and channels too, chooses among those
    that give the same result."""
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
    rank: int, kernel_size: Any, stride: Any, padding: Any
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    kernel = _tuple(kernel_size, rank)
    step, border = kernel if stride is None else _tuple(stride, rank), _tuple(padding, rank)
    for name, given in (("kernel_size", kernel), ("stride", step), ("padding", border)):
        if len(given) != rank:
            raise ValueError(
                f"max_unpool{rank}d: expected {name} to be an int or {rank} of them, got {given}"
            )
    return kernel, step, border


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """`input` at the `indices` of max_pool1d with the same window, zeros elsewhere."""
    size = _unpooled_size(input, *_windows(1, kernel_size, stride, padding), output_size)
    return _max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """`input` at the `indices` of max_pool2d with the same window, zeros elsewhere."""
    return _max_unpool2d(
        input, indices, _unpooled_size(input, *_windows(2, kernel_size, stride, padding), output_size)
    )


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """`input` at the `indices` of max_pool3d with the same window, zeros elsewhere."""
    kernel, step, border = _windows(3, kernel_size, stride, padding)
    return _max_unpool3d(
        input, indices, _unpooled_size(input, kernel, step, border, output_size), step, border
    )


# Norms
# ------------------------------------------------------------


def _lp_pool(
    rank: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Tensor:
    """(sum of x ** p) ** (1 / p); for p = ±infinity the largest or smallest |x|. A window of zeros gets no
    gradient, which would be infinite."""
    kernel = _tuple(kernel_size, rank)
    step = [] if stride is None else _tuple(stride, rank)
    if norm_type in (math.inf, -math.inf):
        largest, sign = (max_pool1d, max_pool2d, max_pool3d)[rank - 1], math.copysign(1.0, norm_type)
        return largest(input.abs() * sign, kernel, step or None, ceil_mode=ceil_mode) * sign
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[rank - 1]
    mean = average(input.pow(norm_type), kernel, step, 0, ceil_mode)
    return (mean.sign() * _relu(mean.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The `norm_type`-norm of each window."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The `norm_type`-norm of each window."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The `norm_type`-norm of each window."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)
