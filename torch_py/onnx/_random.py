"""Random numbers of other distributions, from those that ONNX has. See _registry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py._tensor import Tensor
from torch_py.onnx._registry import DECOMPOSITIONS, decomposes


def _uniform(like: Tensor) -> Any:
    """Numbers from 0 to 1 in the shape of `like`."""
    return torch.rand_like(like if like.is_floating_point() else like.to(torch.get_default_dtype()))


def _integers(uniform: Tensor, low: int, high: int, dtype: Any) -> Any:
    return (torch.floor(uniform * (high - low)) + low).to(dtype)


DECOMPOSITIONS |= {
    "normal.default": lambda self, mean, std, generator: torch.randn_like(self) * std + mean,
    "log_normal": lambda self, mean, std, generator: torch.exp(torch.randn_like(self) * std + mean),
    "exponential": lambda self, lambd, generator: -torch.log(1 - torch.rand_like(self)) / lambd,
    "cauchy": lambda self, median, sigma, generator: (
        median + sigma * torch.tan(math.pi * (torch.rand_like(self) - 0.5))
    ),
    "geometric": lambda self, p, generator: (
        torch.ceil(torch.log(1 - _uniform(self)) / math.log(1 - p)).clamp(min=1).to(self.dtype)
    ),
}


@decomposes("uniform")
def uniform(self: Tensor, generator: Any, **ends: Any) -> Any:
    return torch.rand_like(self) * (ends["to"] - ends["from"]) + ends["from"]


@decomposes("normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_Tensor")
def normal_of_tensors(mean: Any, std: Any, generator: Any) -> Any:
    return torch.randn_like(mean + std) * std + mean


@decomposes("bernoulli")
def bernoulli(self: Tensor, generator: Any, p: Any = None) -> Any:
    """Ones with the probability `p`, or with those that `self` has."""
    return (_uniform(self) < (self if p is None else p)).to(self.dtype)


@decomposes("random.from", "random.to")
def random(self: Tensor, to: int, generator: Any, **start: Any) -> Any:
    return _integers(_uniform(self), start.get("from", 0), to, self.dtype)


@decomposes("randint_like")
def randint_like(self: Tensor, high: Any, low: Any = 0, dtype: Any = None, **settings: Any) -> Any:
    return _integers(torch.rand(self.shape), low, high, self.dtype if dtype is None else dtype)


@decomposes("randint")
def randint(size: Sequence[int], high: int, low: int = 0, dtype: Any = None, **settings: Any) -> Any:
    return _integers(torch.rand(size), low, high, torch.int64 if dtype is None else dtype)
