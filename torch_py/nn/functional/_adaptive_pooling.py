"""Adaptive pooling, to a given output size, over one to three dimensions, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn.functional._ranks import named

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
]

_adaptive_averages = {2: _nn.adaptive_avg_pool2d, 3: _nn.adaptive_avg_pool3d}
_adaptive_maxima = {1: _torch.adaptive_max_pool1d, 2: _nn.adaptive_max_pool2d, 3: _nn.adaptive_max_pool3d}
adaptive_avg_pool1d = _torch.adaptive_avg_pool1d


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
    return named(adaptive_max_pool, name), named(adaptive_max_pool_with_indices, f"{name}_with_indices")


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_max_pool(3)
