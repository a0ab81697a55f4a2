"""Reductions of losses, as names and as the numbers that operators take."""

from __future__ import annotations

import warnings

from torch_py._tensor import Tensor

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}  # the numbers that operators take


def reduction_name(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """Returns `reduction`, or the name that the older pair of arguments means.

    Raises ValueError for an unknown name.
    """
    if size_average is not None or reduce is not None:
        name = "none" if reduce is False else ("sum" if size_average is False else "mean")
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.",
            stacklevel=3,
        )
        return name

    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")

    return reduction


def reduction_number(reduction: str, size_average: bool | None, reduce: bool | None) -> int:
    """Returns the number that operators take for a reduction."""
    return REDUCTIONS[reduction_name(reduction, size_average, reduce)]


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """Applies the reduction with this number."""
    if reduction == 0:
        return loss
    return loss.mean() if reduction == 1 else loss.sum()


# PyTorch's functions
# ------------------------------------------------------------


def get_enum(reduction: str) -> int:
    """Returns 0, 1 or 2 for 'none', 'mean' or 'sum'. Raises ValueError for another name."""
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2
        )
        return REDUCTIONS["mean"]
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Returns the name of a reduction for the older pair of arguments, in which None means true."""
    with warnings.catch_warnings():
        if not emit_warning:
            warnings.simplefilter("ignore")
        return reduction_name("mean", size_average is not False, reduce is not False)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Returns the number of a reduction for the older pair of arguments."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
