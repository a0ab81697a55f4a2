"""How programs of these tests describe tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import torch_py as torch


def facts(*sizes: int, dtype: Any = torch.float32, strides: tuple[int, ...] | None = None) -> tuple[Any, ...]:
    """The facts of a slot: a contiguous tensor on the CPU, unless `strides` say otherwise."""
    dense = tuple(prod(sizes[i + 1 :]) for i in range(len(sizes)))
    return (dtype, sizes, dense if strides is None else strides, torch.device("cpu"))


def facts_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.device)
