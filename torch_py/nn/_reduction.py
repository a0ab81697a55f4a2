"""Reductions of losses, as names and as the numbers that operators take."""

from __future__ import annotations

import warnings

from torch_py.nn._losses import _REDUCTIONS, reduction_name

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """Returns 0, 1 or 2 for 'none', 'mean' or 'sum'. Raises ValueError for another name."""
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2
        )
        return _REDUCTIONS["mean"]
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Returns the name of a reduction for the older pair of arguments, in which None means true."""
    with warnings.catch_warnings():
        if not emit_warning:
            warnings.simplefilter("ignore")
        return reduction_name("mean", size_average is not False, reduce is not False)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Returns the number of a reduction for the older pair of arguments."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
