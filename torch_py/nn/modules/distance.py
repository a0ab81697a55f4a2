"""Distances between pairs of vectors."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """Computes the distance between vectors, the last dimension of two inputs:

        d = ‖x1 - x2 + eps‖ₚ

    Args:
        p: the norm; default 2.0
        eps: what is added to differences, so that the gradient of the norm exists; default 1e-6
        keepdim: whether the last dimension stays, with size 1; default False

    Shape:
        x1, x2: (N, D) or (D,), or anything that broadcasts.
        Output: (N,) or (), with a 1 at the end if `keepdim`.

    Example:
        >>> nn.PairwiseDistance()(torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 4.0]]))
        tensor([5.])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Computes the cosine of the angle between vectors:

        cos = x1 · x2 / (max(‖x1‖, eps) · max(‖x2‖, eps))

    Args:
        dim: the dimension that holds the vectors; default 1
        eps: the least norm, so that zero vectors give 0; default 1e-8

    Shape:
        x1, x2: (..., D, ...), with D at `dim`; they broadcast.
        Output: (..., ...), without `dim`.

    Example:
        >>> nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
