"""Operators that ONNX lacks, in terms of operators that it has. They run while the program is recorded, on its tensors.

A function gets the operator's arguments by name and returns the result, or NotImplemented to have the operator itself recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch_py as torch

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
    "softshrink": lambda self, lambd: torch.where(self > lambd, self - lambd, torch.where(self < -lambd, self + lambd, 0.0)),
    "atan2": lambda self, other: _angle(self, other),
    "hypot": lambda self, other: torch.sqrt(self * self + other * other),
    "lerp": lambda self, end, weight: self + weight * (end - self),
    "addcmul": lambda self, tensor1, tensor2, value: self + value * (tensor1 * tensor2),
    "addcdiv": lambda self, tensor1, tensor2, value: self + value * (tensor1 / tensor2),
    "xlogy": lambda self, other: torch.where(self == 0, torch.where(torch.isnan(other), other, 0.0), self * torch.log(other)),
    "outer": lambda self, vec2: self.unsqueeze(1) * vec2.unsqueeze(0),
    "addmv": lambda self, mat, vec, beta, alpha: beta * self + alpha * torch.mv(mat, vec),
    "baddbmm": lambda self, batch1, batch2, beta, alpha: _added(self, torch.bmm(batch1, batch2), beta, alpha),
    "addbmm": lambda self, batch1, batch2, beta, alpha: _added(self, torch.bmm(batch1, batch2).sum(0), beta, alpha),
    "heaviside": lambda self, values: torch.where(self == 0, values, (self > 0).to(self.dtype)),
    "swapaxes": lambda self, axis0, axis1: torch.transpose(self, axis0, axis1),
    "diff": lambda self, n, dim, prepend, append: _differences(self, n, dim, prepend, append),
    "count_nonzero": lambda self, dim=None: torch.sum(self != 0, dim) if dim is not None else torch.sum(self != 0),
    "mse_loss": lambda self, target, reduction: _reduced((self - target) ** 2, reduction),
    "l1_loss": lambda self, target, reduction: _reduced(abs(self - target), reduction),
    "special_expit": torch.sigmoid,
}


def decomposes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        DECOMPOSITIONS.update(dict.fromkeys(names, function))
        return function

    return register


def _added(own: Any, product: Any, beta: float, alpha: float) -> Any:
    scaled = product if alpha == 1 else alpha * product
    return scaled if beta == 0 else (own if beta == 1 else beta * own) + scaled


def _reduced(loss: Any, reduction: int) -> Any:
    return loss if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()


def _angle(y: Any, x: Any) -> Any:
    """The angle of (x, y): atan moved into the right half, with the axis x = 0 apart."""
    if not (y.is_floating_point() and x.is_floating_point()):
        return NotImplemented
    base = torch.atan(y / x)
    left = torch.where(y >= 0, base + math.pi, base - math.pi)
    on_axis = torch.sign(y) * (math.pi / 2)
    return torch.where(x > 0, base, torch.where(x < 0, left, on_axis))


def _differences(own: Any, n: int, dim: int, prepend: Any, append: Any) -> Any:
    parts = [part for part in (prepend, own, append) if part is not None]
    value = torch.cat(parts, dim) if len(parts) > 1 else own
    for _ in range(n):
        value = value.narrow(dim, 1, value.shape[dim] - 1) - value.narrow(dim, 0, value.shape[dim] - 1)
    return value


@decomposes("logit", "special_logit")
def logit(self: Any, eps: float | None = None) -> Any:
    bounded = self if eps is None else torch.clamp(self, eps, 1 - eps)
    return torch.log(bounded / (1 - bounded))


@decomposes("logaddexp")
def logaddexp(self: Any, other: Any) -> Any:
    larger = torch.maximum(self, other)
    return larger + torch.log(torch.exp(self - larger) + torch.exp(other - larger))


@decomposes("nan_to_num")
def nan_to_num(self: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if not self.is_floating_point():
        return NotImplemented
    ends = torch.finfo(self.dtype)
    value = torch.where(torch.isnan(self), 0.0 if nan is None else nan, self)
    value = torch.where(value == math.inf, ends.max if posinf is None else posinf, value)
    return torch.where(value == -math.inf, ends.min if neginf is None else neginf, value)


@decomposes("glu")
def glu(self: Any, dim: int = -1) -> Any:
    half = self.shape[dim] // 2
    return self.narrow(dim, 0, half) * torch.sigmoid(self.narrow(dim, half, half))


def _moments(self: Any, dim: Any = None, unbiased: bool = True, correction: Any = 1, keepdim: bool = False) -> tuple[Any, Any]:
    """The variance and the mean."""
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
def aminmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    dims = tuple(range(self.dim())) if dim is None else dim
    return torch.amin(self, dims, keepdim), torch.amax(self, dims, keepdim)


@decomposes("cosine_similarity")
def cosine_similarity(x1: Any = None, x2: Any = None, dim: int = 1, eps: float = 1e-8, **named: Any) -> Any:
    one, other = x1 if x1 is not None else named["self"], x2 if x2 is not None else named["other"]
    norms = [torch.clamp(torch.sqrt((t * t).sum(dim)), min=eps) for t in torch.broadcast_tensors(one, other)]
    return (one * other).sum(dim) / (norms[0] * norms[1])


@decomposes("scaled_dot_product_attention")
def attention(query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, scale: float | None, enable_gqa: bool) -> Any:
    """softmax(query keyᵀ scale + mask) value"""
    if enable_gqa:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
    if attn_mask is not None:
        scores = torch.where(attn_mask, scores, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    weights = torch.softmax(scores, -1)
    if attn_mask is not None and attn_mask.dtype == torch.bool:  # rows without anything to attend to are zero
        weights = torch.where(torch.isnan(weights), 0.0, weights)
    return torch.matmul(torch.dropout(weights, dropout_p, dropout_p > 0), value)


@decomposes("cross_entropy_loss")
def cross_entropy(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, label_smoothing: float) -> Any:
    """The mean is weighted by class, over the targets that are not `ignore_index`."""
    if target.is_floating_point() or label_smoothing:
        return NotImplemented
    return _nll(torch.log_softmax(self, 0 if self.dim() == 1 else 1), target, weight, reduction, ignore_index)


@decomposes("nll_loss_nd", "nll_loss")
def nll_loss(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    return _nll(self, target, weight, reduction, ignore_index)


def _nll(scores: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    dim = 0 if scores.dim() == 1 else 1
    kept = target != ignore_index
    safe = torch.where(kept, target, 0)
    loss = -torch.gather(scores, dim, safe.unsqueeze(dim)).squeeze(dim)
    factors = kept.to(scores.dtype) if weight is None else torch.where(kept, weight[safe], 0.0)
    loss = torch.where(kept, loss * factors, 0.0)
    return loss if reduction == 0 else loss.sum() / factors.sum() if reduction == 1 else loss.sum()


def _gates(input: Any, hidden: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any]:
    linear = torch.nn.functional.linear
    return linear(input, w_ih, b_ih), linear(hidden, w_hh, b_hh)


@decomposes("lstm_cell")
def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    one, other = _gates(input, hx[0], w_ih, w_hh, b_ih, b_hh)
    i, f, c, o = (one + other).chunk(4, -1)
    cell = torch.sigmoid(f) * hx[1] + torch.sigmoid(i) * torch.tanh(c)
    return torch.sigmoid(o) * torch.tanh(cell), cell


@decomposes("gru_cell")
def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    (r, z, n), (hr, hz, hn) = (part.chunk(3, -1) for part in _gates(input, hx, w_ih, w_hh, b_ih, b_hh))
    new = torch.tanh(n + torch.sigmoid(r + hr) * hn)
    return new + torch.sigmoid(z + hz) * (hx - new)


@decomposes("rnn_tanh_cell", "rnn_relu_cell")
def rnn_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    return torch.tanh(sum(_gates(input, hx, w_ih, w_hh, b_ih, b_hh)))


DECOMPOSITIONS["rnn_relu_cell"] = lambda **given: torch.relu(sum(_gates(given.pop("input"), given.pop("hx"), **given)))


@decomposes("pixel_unshuffle")
def pixel_unshuffle(self: Any, downscale_factor: int) -> Any:
    r, (c, h, w) = downscale_factor, self.shape[-3:]
    lead = self.shape[:-3]
    apart = self.reshape(*lead, c, h // r, r, w // r, r)
    k = len(lead)
    return apart.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)


@decomposes("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(self: Any, groups: int) -> Any:
    return self.reshape(self.shape[0], groups, self.shape[1] // groups, *self.shape[2:]).transpose(1, 2).reshape(self.shape)


@decomposes("im2col")
def im2col(self: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """A slice for each place of the kernel."""
    pair = [v if isinstance(v, (list, tuple)) else (v, v) for v in (kernel_size, dilation, padding, stride)]
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = ((v[0], v[-1]) for v in pair)
    if self.dim() != 4:
        return NotImplemented
    padded = torch.nn.functional.pad(self, (pw, pw, ph, ph))
    height, width = padded.shape[-2:]
    rows, columns = (height - dh * (kh - 1) - 1) // sh + 1, (width - dw * (kw - 1) - 1) // sw + 1
    parts = [
        padded[:, :, i * dh : i * dh + sh * (rows - 1) + 1 : sh, j * dw : j * dw + sw * (columns - 1) + 1 : sw] for i in range(kh) for j in range(kw)
    ]
    return torch.stack(parts, 2).reshape(self.shape[0], self.shape[1] * kh * kw, rows * columns)


@decomposes("index_add")
def index_add(self: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    shape = [1] * self.dim()
    shape[dim] = -1
    return self.scatter_add(dim, index.reshape(shape).expand(source.shape), source if alpha == 1 else source * alpha)


@decomposes("index_copy", "index_fill")
def index_copy(self: Any, dim: int, index: Any, source: Any = None, value: Any = None) -> Any:
    if self.dim() == 0 or isinstance(value, torch.Tensor):
        return NotImplemented
    shape = [1] * self.dim()
    shape[dim] = -1
    sizes = list(self.shape)
    sizes[dim] = index.shape[0]
    return self.scatter(dim, index.reshape(shape).expand(sizes), source if source is not None else value)
