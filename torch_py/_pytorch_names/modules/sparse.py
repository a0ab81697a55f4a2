"""`torch.sparse` for dense tensors: products are computed, other functions raise the errors that PyTorch
raises for dense tensors."""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py import _C
from torch_py._pytorch_names.layouts import _refusal
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._pytorch_names.tensor_types import NAMES, unavailable_type
from torch_py._tensor import Tensor

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "solve",
    "spdiags",
    "sum",
]

_torch: Any = _C._torch


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    return _torch.mm(mat1, mat2)  # type: ignore[no-any-return]


dsmm = spmm = mm


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2)."""
    return _torch.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> NoReturn:
    """The sum of a sparse tensor's elements.

    Raises RuntimeError for a dense one, which has :func:`torch.sum`.
    """
    raise RuntimeError("coalesce expected sparse coordinate tensor layout but got Strided")


def _for_sparse(name: str) -> Any:
    def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it is not for dense tensors"
        )

    refuse.__name__ = refuse.__qualname__ = name.removeprefix("_sparse_").removeprefix("sparse_")
    return refuse


softmax = _for_sparse("_sparse_softmax")
log_softmax = _for_sparse("_sparse_log_softmax")
sampled_addmm = _for_sparse("sparse_sampled_addmm")
solve, spdiags = _refusal("sparse.solve"), _refusal("sparse.spdiags")


class check_sparse_tensor_invariants:
    """The setting whether new sparse tensors are checked, kept without effect. Also a `with` block."""

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted = enable

    @classmethod
    def is_enabled(cls) -> bool:
        return check_sparse_tensor_invariants._enabled

    @classmethod
    def enable(cls) -> None:
        check_sparse_tensor_invariants._enabled = True

    @classmethod
    def disable(cls) -> None:
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self._wanted

    def __exit__(self, *exception: object) -> None:
        check_sparse_tensor_invariants._enabled = self._before


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """A gradient check that also takes sparse inputs: returns `gradcheck` itself."""
    return gradcheck


for _name in NAMES:
    globals()[_name] = unavailable_type(__name__, _name)


__getattr__ = _lacking(__name__)
