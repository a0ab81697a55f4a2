"""Fractional max pooling, over windows of random size, as functions."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn.functional._ranks import per_dimension

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]

_fractional_maxima = {2: _nn.fractional_max_pool2d, 3: _nn.fractional_max_pool3d}


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
        ratios = per_dimension(output_ratio, rank)
        if len(ratios) > rank:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-rank:], ratios)]

    if random_samples is None:
        samples = 1 if input.dim() == rank + 1 else input.shape[0]
        random_samples = _torch.rand(
            samples, input.shape[-rank - 1], rank, dtype=input.dtype, device=input.device
        )

    return _fractional_maxima[rank](
        input, per_dimension(kernel_size, rank), per_dimension(output_size, rank), random_samples
    )
