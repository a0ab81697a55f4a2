"""Interpolation, padding, and sampling at the points of a grid, as functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn._pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = [
    "affine_grid",
    "grid_sample",
    "interpolate",
    "pad",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_pad = _nn.pad
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


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes `input` (N, C, ...) with one to three spatial dimensions to `size` or by `scale_factor`.

    Modes: nearest, nearest-exact and area; linear (one dimension), bilinear and bicubic (two) and trilinear
    (three). `align_corners` aligns the centers of the outer elements in place of their edges.
    `recompute_scale_factor` uses the ratio of the sizes in place of the given factor. `antialias` (bilinear
    and bicubic) averages where the result is smaller.
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
        return [int(extent) for extent in extents], []

    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")

    factors = [float(factor) for factor in _per_dimension("scale_factor", scale_factor, rank, shape)]
    sizes = [math.floor(float(extent) * factor) for extent, factor in zip(shape[2:], factors)]
    return sizes, [] if recompute else factors


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name of `interpolate`; warns."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Computes `interpolate` with the nearest element; warns."""
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
    """Computes bilinear `interpolate` with aligned corners; warns."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# Padding
# ------------------------------------------------------------


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Extends dimensions, or cuts them for negative widths: `pad` = (left, right) of the last dimension, then
    of the one before, and so on.

    Modes: 'constant' (`value`, default 0), 'reflect' (mirrored at the edge element), 'replicate' (edge
    element repeated), 'circular' (wrapped around). The last three pad the last one to three dimensions of (C,
    ...) or (N, C, ...).
    """
    return _pad(input, pad, mode, value)


# Grids
# ------------------------------------------------------------

_SAMPLING_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_OUTSIDE = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Interpolates `input` (N, C, H, W) or (N, C, D, H, W) at the points `grid` (N, ..., 2 or 3), given as x,
    y(, z) from -1 to 1.

    With `align_corners`, -1 and 1 are the centers of the outer elements, otherwise their outer edges.
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


def _warn_of_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
        "Please specify align_corners=True if the old behavior is desired.",
        stacklevel=3,
    )


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Returns the grid for `grid_sample` that applies the affine maps `theta` (N, 2,
    3) or (N, 3, 4) and gives a result of `size` (N, C, ...)."""
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
