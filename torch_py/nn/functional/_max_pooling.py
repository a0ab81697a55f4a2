"""Max pooling and unpooling over one to three dimensions, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn.functional._ranks import named, per_dimension

__all__ = [
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

_maxima = {1: _torch.max_pool1d, 2: _torch.max_pool2d, 3: _torch.max_pool3d}
_maxima_with_indices = {
    1: _torch.max_pool1d_with_indices,
    2: _nn.max_pool2d_with_indices,
    3: _nn.max_pool3d_with_indices,
}
_max_unpool2d = _nn.max_unpool2d
_max_unpool3d = _nn.max_unpool3d


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
    return named(max_pool, name), named(max_pool_with_indices, f"{name}_with_indices")


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)


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


def _windows(
    rank: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns kernel, stride and padding as tuples. Raises ValueError for a wrong number of values."""
    kernel = per_dimension(kernel_size, rank)
    step = kernel if stride is None else per_dimension(stride, rank)
    border = per_dimension(padding, rank)

    for name, given in (("kernel_size", kernel), ("stride", step), ("padding", border)):
        if len(given) != rank:
            raise ValueError(
                f"max_unpool{rank}d: expected {name} to be an int or {rank} of them, got {given}"
            )

    return kernel, step, border


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
