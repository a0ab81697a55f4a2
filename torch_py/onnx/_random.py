"""Random numbers of other distributions, from those that ONNX has. See _registry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py._tensor import Tensor
from torch_py.onnx._registry import decomposes


@decomposes("uniform")
def uniform(self: Tensor, generator: Any, **ends: Any) -> Any:
    low, high = ends["from"], ends["to"]
    return torch.rand_like(self) * (high - low) + low


@decomposes("normal.default")
def normal(self: Tensor, mean: float, std: float, generator: Any) -> Any:
    return torch.randn_like(self) * std + mean


@decomposes("normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor")
def normal_of_tensors(mean: Any, std: Any, generator: Any) -> Any:
    return torch.randn_like(mean + std) * std + mean


@decomposes("bernoulli")
def bernoulli(self: Tensor, generator: Any, p: Any = None) -> Any:
    """Ones with the probability `p`, or with those that `self` has."""
    chances = self if p is None else p
    example = self if self.is_floating_point() else self.to(torch.get_default_dtype())
    return (torch.rand_like(example) < chances).to(self.dtype)


@decomposes("exponential")
def exponential(self: Tensor, lambd: float, generator: Any) -> Any:
    return -torch.log(1 - torch.rand_like(self)) / lambd


@decomposes("log_normal")
def log_normal(self: Tensor, mean: float, std: float, generator: Any) -> Any:
    return torch.exp(torch.randn_like(self) * std + mean)


@decomposes("geometric")
def geometric(self: Tensor, p: float, generator: Any) -> Any:
    chances = torch.rand_like(self if self.is_floating_point() else self.to(torch.get_default_dtype()))
    return torch.ceil(torch.log(1 - chances) / math.log(1 - p)).clamp(min=1).to(self.dtype)


@decomposes("cauchy")
def cauchy(self: Tensor, median: float, sigma: float, generator: Any) -> Any:
    return median + sigma * torch.tan(math.pi * (torch.rand_like(self) - 0.5))


@decomposes("randint_like")
def randint_like(self: Tensor, high: Any, low: Any = 0, dtype: Any = None, **settings: Any) -> Any:
    numbers = torch.rand(self.shape) * (high - low) + low
    return torch.floor(numbers).to(self.dtype if dtype is None else dtype)


@decomposes("random.from", "random.to")
def random(self: Tensor, to: int, generator: Any, **start: Any) -> Any:
    low = start.get("from", 0)
    example = self if self.is_floating_point() else self.to(torch.get_default_dtype())
    return (torch.floor(torch.rand_like(example) * (to - low)) + low).to(self.dtype)


@decomposes("randint")
def randint(size: Sequence[int], high: int, low: int = 0, dtype: Any = None, **settings: Any) -> Any:
    numbers = torch.rand(size) * (high - low) + low
    return torch.floor(numbers).to(torch.int64 if dtype is None else dtype)
