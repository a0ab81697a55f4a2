"""The functions of `torch` that are not single operators, under the module they are also known by."""

from torch_py import _C
from torch_py._functional import *
from torch_py._functional import __all__ as _written

_OPERATORS = (
    "align_tensors",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "lu",
    "meshgrid",
    "norm",
    "split",
    "stft",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
)
globals().update(
    {
        _name: getattr(_C._torch, _name)
        for _name in _OPERATORS
        if _name not in globals() and hasattr(_C._torch, _name)
    }
)
__all__ = sorted(name for name in {*_written, *_OPERATORS} if name in globals())
