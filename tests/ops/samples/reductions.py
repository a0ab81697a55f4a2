"""Tensors and dimensions, for reductions, scans and sorting; packages of operators use them too."""

from torch_py.testing.operators.samples.reductions import (
    dim_errors,
    dims_errors,
    extremes,
    over_all,
    over_dims,
    over_nothing,
    tensors,
)

__all__ = [
    "dim_errors",
    "dims_errors",
    "extremes",
    "over_all",
    "over_dims",
    "over_nothing",
    "tensors",
]
