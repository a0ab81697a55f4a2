"""Layers that move elements between channels and spatial positions."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Moves channels to positions, which enlarges images by a factor r without interpolation.

    Source: Shi et al., Real-time single image and video super-resolution (2016).

    Args:
        upscale_factor: the factor r

    Shape:
        Input: (..., C · r², H, W).
        Output: (..., C, H · r, W · r).

    Example:
        >>> nn.PixelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1, 1))
        tensor([[[[0., 1.],
                  [2., 3.]]]])
    """

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Moves positions to channels, which reduces images by a factor r and keeps all elements. It undoes
    `PixelShuffle`.

    Args:
        downscale_factor: the factor r, which must divide height and width

    Shape:
        Input: (..., C, H · r, W · r).
        Output: (..., C · r², H, W).

    Example:
        >>> nn.PixelUnshuffle(2)(torch.arange(4.0).reshape(1, 1, 2, 2)).shape
        torch.Size([1, 4, 1, 1])
    """

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
