"""Fractional max pooling layers, whose windows have random sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _ntuple

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


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
