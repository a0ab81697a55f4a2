"""Interpolation, and sampling at the points of a grid, as functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn.functional._adaptive_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)

__all__ = ["affine_grid", "grid_sample", "interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_grid_sampler = _torch.grid_sampler
_affine_grid_generator = _torch.affine_grid_generator
# Operators over one, two and three dimensions, by mode.
_NEAREST = {
    "nearest": (_nn.upsample_nearest1d, _nn.upsample_nearest2d, _nn.upsample_nearest3d),
    "nearest-exact": (
        _nn._upsample_nearest_exact1d,
        _nn._upsample_nearest_exact2d,
        _nn._upsample_nearest_exact3d,
    ),
}
_AREA = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)
# Number of dimensions and operator, by mode.
_SMOOTH: dict[str, tuple[int, Callable[..., Tensor]]] = dict(
    zip(
        ("linear", "bilinear", "trilinear", "bicubic"),
        zip(
            (1, 2, 3, 2),
            (
                _nn.upsample_linear1d,
                _nn.upsample_bilinear2d,
                _nn.upsample_trilinear3d,
                _nn.upsample_bicubic2d,
            ),
        ),
    )
)
_ANTIALIASED: dict[str, Callable[..., Tensor]] = dict(
    zip(("bilinear", "bicubic"), (_nn._upsample_bilinear2d_aa, _nn._upsample_bicubic2d_aa))
)
_MODES = "nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact"
_SAMPLING_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_OUTSIDE = {"zeros": 0, "border": 1, "reflection": 2}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes sequences, images or volumes by interpolation.

    Args:
        input: (N, C, L), (N, C, H, W) or (N, C, D, H, W)
        size: the spatial sizes of the result; give either this or `scale_factor`
        scale_factor: the factor by which spatial sizes grow, one or one per dimension
        mode: 'nearest' (default), 'nearest-exact', 'area', 'linear' for sequences, 'bilinear' and 'bicubic'
            for images, 'trilinear' for volumes
        align_corners: whether the centers of the corner elements are aligned instead of their edges; default
            None, which is False
        recompute_scale_factor: whether to interpolate with the factor that follows from the rounded size;
            default None, which is False
        antialias: whether the kernel widens when an image shrinks, with 'bilinear' and 'bicubic'; default
            False

    Raises:
        ValueError: neither or both of `size` and `scale_factor` are given

    Example:
        >>> F.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
    """
    if align_corners is not None and (mode in _NEAREST or mode == "area"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic "
            "| trilinear"
        )

    rank = input.dim() - 2
    sizes, factors = _sizes_and_factors(input.shape, rank, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in _ANTIALIASED and rank == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    if not 1 <= rank <= 3:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: "
            f"{_MODES} (got {mode})"
        )

    if mode == "area":
        return _AREA[rank - 1](input, sizes)
    if mode in _NEAREST:
        return _NEAREST[mode][rank - 1](input, sizes, *factors)
    if mode not in _SMOOTH:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: "
            f"{_MODES} (got {mode})"
        )

    needed, operator = _SMOOTH[mode]
    if needed != rank:
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {needed + 2}D input")

    return (_ANTIALIASED[mode] if antialias else operator)(input, sizes, bool(align_corners), *factors)


def _sizes_and_factors(
    shape: Sequence[int],
    rank: int,
    size: int | Sequence[int] | None,
    scale_factor: float | Sequence[float] | None,
    recompute: bool | None,
) -> tuple[list[int], list[Any]]:
    """Returns the output sizes, and the scale factors unless they follow from the sizes."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if recompute and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")

    if size is not None:
        extents = _per_dimension("output size", size, rank, shape)
        if any(isinstance(extent, float) for extent in extents):
            raise TypeError(
                f"interpolate: expected size to be an int or a tuple of {rank} of them, but got size={size}"
            )
        # int() would take a size that varies between calls of compiled code for a constant.
        return [extent if isinstance(extent, int) else int(extent) for extent in extents], []

    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")

    factors = [float(factor) for factor in _per_dimension("scale_factor", scale_factor, rank, shape)]
    sizes = [math.floor(float(extent) * factor) for extent, factor in zip(shape[2:], factors)]
    return sizes, [] if recompute else factors


def _per_dimension(name: str, value: float | Sequence[float], rank: int, shape: Sequence[int]) -> list[Any]:
    """Returns one value per spatial dimension. Raises ValueError for a wrong number of values."""
    if not isinstance(value, (list, tuple)):
        return [value] * rank
    if len(value) != rank:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(shape[2:])} and {name} of {value}. Please provide input tensor in (N, C, "
            f"d1, d2, ...,dK) format and {name} in (d1, d2, ...,dK) format."
        )

    return list(value)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The former name of `interpolate`. It warns.

    Args:
        input: (N, C, L), (N, C, H, W) or (N, C, D, H, W)
        size, scale_factor, mode, align_corners: those of `interpolate`

    Example:
        >>> F.upsample(torch.ones(1, 1, 2), scale_factor=2).shape
        torch.Size([1, 1, 4])
    """
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Resizes with the nearest element. It warns: `interpolate` is preferred.

    Args:
        input: (N, C, L), (N, C, H, W) or (N, C, D, H, W)
        size: the size of the result; give either this or `scale_factor`
        scale_factor: the factor by which spatial sizes grow

    Example:
        >>> F.upsample_nearest(torch.ones(1, 1, 2, 2), size=3).shape
        torch.Size([1, 1, 3, 3])
    """
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Resizes images by bilinear interpolation with aligned corners. It warns: `interpolate` is preferred.

    Args:
        input: (N, C, H, W)
        size: the size of the result; give either this or `scale_factor`
        scale_factor: the factor by which height and width grow

    Example:
        >>> F.upsample_bilinear(torch.ones(1, 1, 2, 2), size=3).shape
        torch.Size([1, 1, 3, 3])
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Interpolates images or volumes at the points of a grid.

    Args:
        input: (N, C, H, W) or (N, C, D, H, W)
        grid: (N, H', W', 2) or (N, D', H', W', 3), coordinates x, y(, z) from -1 to 1
        mode: 'bilinear' (default), 'nearest' or 'bicubic' (images only)
        padding_mode: what is outside: 'zeros' (default), 'border' or 'reflection'
        align_corners: whether -1 and 1 are the centers of the corner elements instead of their edges; default
            None, which is False

    Returns:
        (N, C, H', W') or (N, C, D', H', W')

    Example:
        >>> F.grid_sample(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), align_corners=False)
        tensor([[[[1.]]]])
    """
    if mode not in _SAMPLING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in _OUTSIDE:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )

    if align_corners is None:
        _warn_of_corners()

    return _grid_sampler(
        input,
        grid,
        _SAMPLING_MODES[mode],
        _OUTSIDE[padding_mode],
        False if align_corners is None else align_corners,
    )


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` that applies affine maps.

    Args:
        theta: (N, 2, 3) for images or (N, 3, 4) for volumes
        size: the size of the result, (N, C, H, W) or (N, C, D, H, W)
        align_corners: as in `grid_sample`; default None, which is False

    Example:
        >>> F.affine_grid(torch.eye(2, 3).unsqueeze(0), (1, 1, 2, 2), align_corners=True).shape
        torch.Size([1, 2, 2, 2])
    """
    if align_corners is None:
        _warn_of_corners()
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {tuple(size)}."
        )

    rank = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{tuple(size)}. Got {tuple(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")

    return _affine_grid_generator(theta, size, False if align_corners is None else align_corners)


def _warn_of_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
        "Please specify align_corners=True if the old behavior is desired.",
        stacklevel=3,
    )
