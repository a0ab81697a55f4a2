"""What is known about the tensors of a program without having them."""

from __future__ import annotations

from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.fx.graph import Graph


class Described:
    """What is known about a tensor of the program: dtype, device and shape, whose sizes may be formulas."""

    memory_format = None

    def __init__(
        self, shape: tuple[Any, ...], dtype: Any, device: Any, example: Tensor | None = None
    ) -> None:
        """`example` is a tensor on the meta device of one of the shapes."""
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.example = example

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one size of it."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    ndim = property(dim)

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        return f"Described(shape=({sizes}), dtype={self.dtype}, device={self.device})"


def describe(graph: Graph) -> None:
    """Replaces the tensors in the metadata of nodes, which have memory, by descriptions of them."""
    for node in graph.nodes:
        value = node.meta.get("val")
        node.meta.pop("tensor_meta", None)
        if isinstance(value, (list, tuple)):  # the nodes that take its elements describe them
            del node.meta["val"]
        if isinstance(value, Tensor):
            example = torch_py.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
            node.meta["val"] = Described(tuple(value.shape), value.dtype, value.device, example)
