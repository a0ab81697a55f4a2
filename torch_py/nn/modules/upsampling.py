"""Interpolation layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resizes sequences, images or volumes by interpolation. The arguments are those of
    `nn.functional.interpolate`.

    Args:
        size: the spatial sizes of the output; give either this or `scale_factor`
        scale_factor: the factor by which spatial sizes grow, one or one per dimension
        mode: 'nearest' (default), 'linear' for sequences, 'bilinear' and 'bicubic' for images, 'trilinear'
            for volumes, 'nearest-exact' or 'area'
        align_corners: whether the corner elements of input and output are at the same place, instead of the
            corners of the elements; not for 'nearest' and 'area'; default None, which is False
        recompute_scale_factor: whether to interpolate with the factor that follows from the rounded output
            size; default None, which is False

    Shape:
        Input: (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        Output: the same number of dimensions, with the new spatial sizes.

    Example:
        >>> nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 1., 2., 2.]]])
        >>> nn.Upsample(size=3, mode="linear", align_corners=True)(torch.tensor([[[1.0, 2.0]]]))
        tensor([[[1.0000, 1.5000, 2.0000]]])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        target = (
            f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None else f"size={self.size!r}"
        )
        return f"{target}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes images with the nearest element: `Upsample` with mode 'nearest'.

    Args:
        size: height and width of the output; give either this or `scale_factor`
        scale_factor: the factor by which height and width grow

    Shape:
        Input: (N, C, H, W).
        Output: (N, C, H', W').

    Example:
        >>> nn.UpsamplingNearest2d(scale_factor=2)(torch.ones(1, 1, 2, 3)).shape
        torch.Size([1, 1, 4, 6])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes images by bilinear interpolation with aligned corners: `Upsample` with mode 'bilinear' and
    `align_corners`.

    Args:
        size: height and width of the output; give either this or `scale_factor`
        scale_factor: the factor by which height and width grow

    Shape:
        Input: (N, C, H, W).
        Output: (N, C, H', W').

    Example:
        >>> nn.UpsamplingBilinear2d(size=(1, 3))(torch.tensor([[[[0.0, 1.0]]]]))
        tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
