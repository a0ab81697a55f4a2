"""Adaptive pooling layers, which pool to a given output size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
]


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
