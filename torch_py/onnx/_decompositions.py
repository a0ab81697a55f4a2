"""Operators that ONNX lacks, written with operators that it has.

They run while the program is recorded, on its tensors.

A function takes the operator's arguments by name. It returns the result, or NotImplemented to have the
operator itself recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch_py as torch
from torch_py import _C
from torch_py._tensor import Tensor

DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "square": lambda self: self * self,
    "rsqrt": lambda self: 1.0 / torch.sqrt(self),
    "log2": lambda self: torch.log(self) * (1 / math.log(2)),
    "log10": lambda self: torch.log(self) * (1 / math.log(10)),
    "exp2": lambda self: torch.exp(self * math.log(2)),
    "expm1": lambda self: torch.exp(self) - 1.0,
    "log1p": lambda self: torch.log(self + 1.0),
    "erfc": lambda self: 1.0 - torch.erf(self),
    "frac": lambda self: self - torch.trunc(self),
    "deg2rad": lambda self: self * (math.pi / 180),
    "rad2deg": lambda self: self * (180 / math.pi),
    "isfinite": lambda self: ~(torch.isnan(self) | torch.isinf(self)),
    "isposinf": lambda self: torch.isinf(self) & (self > 0),
    "isneginf": lambda self: torch.isinf(self) & (self < 0),
    "log_sigmoid": lambda self: -torch.nn.functional.softplus(-self),
    "silu": lambda self: self * torch.sigmoid(self),
    "mish": lambda self: self * torch.tanh(torch.nn.functional.softplus(self)),
    "hardtanh": lambda self, min_val, max_val: torch.clamp(self, min_val, max_val),
    "threshold": lambda self, threshold, value: torch.where(self <= threshold, value, self),
    "hardshrink": lambda self, lambd: torch.where(abs(self) <= lambd, 0.0, self),
    "softshrink": lambda self, lambd: torch.where(
        self > lambd, self - lambd, torch.where(self < -lambd, self + lambd, 0.0)
    ),
    "atan2": lambda self, other: _angle(self, other),
    "hypot": lambda self, other: torch.sqrt(self * self + other * other),
    "lerp": lambda self, end, weight: self + weight * (end - self),
    "addcmul": lambda self, tensor1, tensor2, value: self + value * (tensor1 * tensor2),
    "addcdiv": lambda self, tensor1, tensor2, value: self + value * (tensor1 / tensor2),
    "xlogy": lambda self, other: torch.where(
        self == 0, torch.where(torch.isnan(other), other, 0.0), self * torch.log(other)
    ),
    "outer": lambda self, vec2: self.unsqueeze(1) * vec2.unsqueeze(0),
    "addmv": lambda self, mat, vec, beta, alpha: beta * self + alpha * torch.mv(mat, vec),
    "baddbmm": lambda self, batch1, batch2, beta, alpha: _added(self, torch.bmm(batch1, batch2), beta, alpha),
    "addbmm": lambda self, batch1, batch2, beta, alpha: _added(
        self, torch.bmm(batch1, batch2).sum(0), beta, alpha
    ),
    "heaviside": lambda self, values: torch.where(self == 0, values, (self > 0).to(self.dtype)),
    "swapaxes": lambda self, axis0, axis1: torch.transpose(self, axis0, axis1),
    "diff": lambda self, n, dim, prepend, append: _differences(self, n, dim, prepend, append),
    "count_nonzero": lambda self, dim=None: (
        torch.sum(self != 0, dim) if dim is not None else torch.sum(self != 0)
    ),
    "conj": lambda self: self if not self.is_complex() else NotImplemented,
    "fmax": lambda self, other: torch.where(
        torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.maximum(self, other))
    ),
    "fmin": lambda self, other: torch.where(
        torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.minimum(self, other))
    ),
    "special_expit": torch.sigmoid,
}


def decomposes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that computes the operators `names`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        DECOMPOSITIONS.update(dict.fromkeys(names, function))
        return function

    return register


def _added(own: Any, product: Any, beta: float, alpha: float) -> Any:
    scaled = product if alpha == 1 else alpha * product
    return scaled if beta == 0 else (own if beta == 1 else beta * own) + scaled


def _angle(y: Any, x: Any) -> Any:
    """The angle of the point (x, y): atan(y / x), corrected for the left half plane and for x = 0."""
    if not (y.is_floating_point() and x.is_floating_point()):
        return NotImplemented
    base = torch.atan(y / x)
    left = torch.where(y >= 0, base + math.pi, base - math.pi)
    on_axis = torch.sign(y) * (math.pi / 2)
    return torch.where(x > 0, base, torch.where(x < 0, left, on_axis))


def _differences(own: Any, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Any:
    parts = [part for part in (prepend, own, append) if part is not None]
    value = torch.cat(parts, dim) if len(parts) > 1 else own
    for _ in range(n):
        value = value.narrow(dim, 1, value.shape[dim] - 1) - value.narrow(dim, 0, value.shape[dim] - 1)
    return value


@decomposes("logit", "special_logit")
def logit(self: Tensor, eps: float | None = None) -> Any:
    bounded = self if eps is None else torch.clamp(self, eps, 1 - eps)
    return torch.log(bounded / (1 - bounded))


@decomposes("logaddexp")
def logaddexp(self: Tensor, other: Tensor) -> Any:
    self, other = (t if t.is_floating_point() else t.to(torch.get_default_dtype()) for t in (self, other))
    larger = torch.maximum(self, other)
    return larger + torch.log(torch.exp(self - larger) + torch.exp(other - larger))


@decomposes("nan_to_num")
def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    if not self.is_floating_point():
        return NotImplemented

    ends = torch.finfo(self.dtype)
    value = torch.where(torch.isnan(self), 0.0 if nan is None else nan, self)
    value = torch.where(value == math.inf, ends.max if posinf is None else posinf, value)
    return torch.where(value == -math.inf, ends.min if neginf is None else neginf, value)


@decomposes("isclose")
def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Any:
    near = (self == other) | (
        torch.isfinite(self) & torch.isfinite(other) & (abs(self - other) <= atol + rtol * abs(other))
    )
    return near | (torch.isnan(self) & torch.isnan(other)) if equal_nan else near


@decomposes("nansum", "nanmean")
def nansum(self: Tensor, dim: Any, keepdim: bool, dtype: _C.dtype) -> Any:
    return torch.where(torch.isnan(self), 0.0, self).sum(dim, keepdim, dtype=dtype)


DECOMPOSITIONS["nanmean"] = lambda **given: (
    nansum(**given) / (~torch.isnan(given["self"])).sum(given["dim"], given["keepdim"])
)


@decomposes("glu")
def glu(self: Tensor, dim: int = -1) -> Any:
    half = self.shape[dim] // 2
    return self.narrow(dim, 0, half) * torch.sigmoid(self.narrow(dim, half, half))


def _moments(
    self: Tensor, dim: Any = None, unbiased: bool = True, correction: Any = 1, keepdim: bool = False
) -> tuple[Any, Any]:
    """The variance and the mean over `dim`."""
    dims = list(range(self.dim())) if dim is None or dim == [] or dim == () else dim
    less = (1 if correction is None else correction) if unbiased else 0
    mean = self.mean(dims, keepdim=True) if self.dim() else self
    count = math.prod(self.shape[d] for d in ([dims] if isinstance(dims, int) else dims)) if self.dim() else 1
    squares = (self - mean) ** 2
    total = squares.sum(dims, keepdim=keepdim) if self.dim() else squares
    kept = mean if keepdim or not self.dim() else self.mean(dims)
    return total / max(0, count - less) if count != less else total * math.nan, kept


DECOMPOSITIONS["var"] = lambda **given: _moments(**given)[0]
DECOMPOSITIONS["std"] = lambda **given: torch.sqrt(_moments(**given)[0])
DECOMPOSITIONS["var_mean"] = lambda **given: _moments(**given)
DECOMPOSITIONS["std_mean"] = lambda **given: (torch.sqrt(_moments(**given)[0]), _moments(**given)[1])


@decomposes("aminmax")
def aminmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    dims = tuple(range(self.dim())) if dim is None else dim
    return torch.amin(self, dims, keepdim), torch.amax(self, dims, keepdim)


@decomposes("cosine_similarity")
def cosine_similarity(
    x1: Tensor | None = None, x2: Tensor | None = None, dim: int = 1, eps: float = 1e-8, **named: Any
) -> Any:
    one = x1 if x1 is not None else named["self"]
    other = x2 if x2 is not None else named["other"]
    norms = [torch.clamp(torch.sqrt((t * t).sum(dim)), min=eps) for t in torch.broadcast_tensors(one, other)]
    return (one * other).sum(dim) / (norms[0] * norms[1])
