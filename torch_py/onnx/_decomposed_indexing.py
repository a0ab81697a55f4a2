"""Operators that arrange elements, written with operators that ONNX has. See _decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py._tensor import Tensor
from torch_py.onnx._decompositions import DECOMPOSITIONS, decomposes


@decomposes("index_add")
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any = 1) -> Any:
    if self.dim() == 0:
        return NotImplemented
    shape = [1] * self.dim()
    shape[dim] = -1
    return self.scatter_add(
        dim, index.reshape(shape).expand(source.shape), source if alpha == 1 else source * alpha
    )


@decomposes("index_copy", "index_fill")
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor | None = None, value: Any = None) -> Any:
    if self.dim() == 0:
        return NotImplemented
    shape = [1] * self.dim()
    shape[dim] = -1
    sizes = list(self.shape)
    sizes[dim] = index.shape[0]
    return self.scatter(
        dim,
        index.reshape(shape).expand(sizes),
        source if source is not None else value.expand(sizes) if isinstance(value, torch.Tensor) else value,
    )


@decomposes("meshgrid")
def meshgrid(tensors: Sequence[Tensor], indexing: str = "ij") -> Any:
    swaps = indexing == "xy" and len(tensors) > 1
    order = [1, 0, *range(2, len(tensors))] if swaps else list(range(len(tensors)))
    sizes = [tensors[i].numel() for i in order]
    result = []
    for position, tensor in enumerate(tensors):
        shape = [1] * len(tensors)
        shape[order.index(position)] = tensor.numel()
        result.append(tensor.reshape(shape).expand(sizes))
    return tuple(result)


DECOMPOSITIONS["vstack"] = lambda tensors: torch.cat([torch.atleast_2d(t) for t in tensors], 0)
DECOMPOSITIONS["hstack"] = lambda tensors: torch.cat(
    [torch.atleast_1d(t) for t in tensors], 1 if tensors[0].dim() > 1 else 0
)
DECOMPOSITIONS["dstack"] = lambda tensors: torch.cat([torch.atleast_3d(t) for t in tensors], 2)
DECOMPOSITIONS["trace"] = lambda self: torch.diagonal(self, 0, 0, 1).sum()
DECOMPOSITIONS["take"] = lambda self, index: self.reshape(-1)[index]


@decomposes("diag")
def diag(self: Tensor, diagonal: int = 0) -> Any:
    if diagonal:
        return NotImplemented
    return (
        torch.diagonal(self, 0, 0, 1)
        if self.dim() == 2
        else self.unsqueeze(1) * torch.eye(self.shape[0], dtype=self.dtype)
    )


@decomposes("cross", "linalg_cross")
def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Any:
    if dim is None:
        dim = next(axis for axis, size in enumerate(self.shape) if size == 3)
    one, two = torch.broadcast_tensors(self, other)
    (a, b, c), (x, y, z) = (tensor.unbind(dim) for tensor in (one, two))
    return torch.stack([b * z - c * y, c * x - a * z, a * y - b * x], dim)


@decomposes("cdist")
def cdist(x1: Tensor, x2: Tensor, p: float = 2, compute_mode: Any = None) -> Any:
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.linalg.vector_norm(difference, p, -1)


@decomposes("unfold")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Any:
    """Selects the elements of all windows at once, by a table of their positions."""
    if self.dim() == 0:
        return NotImplemented

    dimension %= self.dim()
    count = (self.shape[dimension] - size) // step + 1
    places = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
    windows = self.index_select(dimension, places.reshape(-1)).unflatten(dimension, (count, size))
    return windows.movedim(dimension + 1, -1)
