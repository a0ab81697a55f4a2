"""Sets of matrices."""

from __future__ import annotations

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions.constraints._base import Constraint

__all__ = [
    "corr_cholesky",
    "lower_cholesky",
    "lower_triangular",
    "positive_definite",
    "positive_semidefinite",
    "square",
    "symmetric",
]


class _Matrix(Constraint):
    event_dim = 2


class _LowerTriangular(_Matrix):
    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).all(-1).all(-1)


class _LowerCholesky(_Matrix):
    """Lower triangular with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).all(-1).all(-1) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_Matrix):
    """Cholesky factors of correlation matrices, which also have rows of norm 1."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        norms = torch.linalg.vector_norm(value.detach(), dim=-1)
        return ((norms - 1).abs() <= tolerance).all(-1) & lower_cholesky.check(value)


class _Square(_Matrix):
    def check(self, value: Tensor) -> Tensor:
        return torch.full(
            value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool, device=value.device
        )


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return symmetric & (torch.linalg.eigvalsh(value) >= 0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        # Without a branch on a tensor, which would end graphs.
        definite = symmetric & (torch.linalg.cholesky_ex(value).info == 0)
        return torch.where(symmetric.all(), definite, symmetric)


lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
