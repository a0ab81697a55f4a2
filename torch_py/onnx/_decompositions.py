"""Operators that ONNX lacks, written with operators that it has.

They run while the program is recorded, on its tensors. See _registry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py._tensor import Tensor
from torch_py.onnx._registry import decomposes


@decomposes("scaled_dot_product_attention")
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Any:
    """softmax(query keyᵀ scale + mask) value"""
    if enable_gqa:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))

    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        allowed = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        scores = scores.masked_fill(~allowed, -math.inf)

    if attn_mask is not None:
        is_mask = attn_mask.dtype == torch.bool
        scores = torch.where(attn_mask, scores, -math.inf) if is_mask else scores + attn_mask

    weights = torch.softmax(scores, -1)
    if attn_mask is not None and attn_mask.dtype == torch.bool:  # fully masked rows are zero
        weights = torch.where(torch.isnan(weights), 0.0, weights)
    return torch.matmul(torch.dropout(weights, dropout_p, dropout_p > 0), value)


@decomposes("nll_loss_forward")
def nll_loss(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    """The loss and the total weight. The mean is weighted by class and taken over the targets that are not
    `ignore_index`."""
    dim = 0 if self.dim() == 1 else 1
    kept = target != ignore_index
    safe = torch.where(kept, target, 0)
    loss = -torch.gather(self, dim, safe.unsqueeze(dim)).squeeze(dim)
    factors = kept.to(self.dtype) if weight is None else torch.where(kept, weight[safe], 0.0)
    loss = torch.where(kept, loss * factors, 0.0)
    total = factors.sum()
    return (loss if reduction == 0 else loss.sum() / total if reduction == 1 else loss.sum()), total


@decomposes("baddbmm")
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Any:
    product = torch.bmm(batch1, batch2)
    scaled = product if alpha == 1 else alpha * product
    return scaled if beta == 0 else (self if beta == 1 else beta * self) + scaled


@decomposes("nan_to_num")
def nan_to_num(self: Tensor, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    if not self.is_floating_point():
        return self.clone()

    ends = torch.finfo(self.dtype)
    value = torch.where(torch.isnan(self), 0.0 if nan is None else nan, self)
    value = torch.where(value == math.inf, ends.max if posinf is None else posinf, value)
    return torch.where(value == -math.inf, ends.min if neginf is None else neginf, value)


@decomposes("_nansum")
def nansum(self: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Any:
    return torch.where(torch.isnan(self), 0.0, self).sum(dim, keepdim, dtype=dtype)


@decomposes("index_add")
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Any:
    if self.dim() == 0:
        return index_add(self.reshape(1), 0, index.reshape(1), source.reshape(1), alpha).reshape(())
    added = source if alpha == 1 else (source * alpha).to(self.dtype)
    return self.scatter_add(dim, _along(dim, index, list(source.shape)), added)


def _along(dim: int, index: Tensor, sizes: list[int]) -> Tensor:
    """An index for each element, from one for each place along `dim`."""
    shape = [1] * len(sizes)
    shape[dim] = -1
    return index.reshape(shape).expand(sizes)


@decomposes("_cdist_forward")
def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: Any) -> Any:
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.linalg.vector_norm(difference, p, -1)


@decomposes("pixel_unshuffle")
def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Any:
    r = downscale_factor
    c, h, w = self.shape[-3:]
    lead = self.shape[:-3]
    apart = self.reshape(*lead, c, h // r, r, w // r, r)
    k = len(lead)
    return apart.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)


@decomposes("im2col")
def im2col(self: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Stacks one slice of the input for each position in the kernel."""
    kh, kw = kernel_size
    dh, dw = dilation
    ph, pw = padding
    sh, sw = stride
    if self.dim() == 3:
        return im2col(self.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)

    padded = torch.nn.functional.pad(self, (pw, pw, ph, ph))
    height, width = padded.shape[-2:]
    rows = (height - dh * (kh - 1) - 1) // sh + 1
    columns = (width - dw * (kw - 1) - 1) // sw + 1

    parts = [
        padded[
            :, :, i * dh : i * dh + sh * (rows - 1) + 1 : sh, j * dw : j * dw + sw * (columns - 1) + 1 : sw
        ]
        for i in range(kh)
        for j in range(kw)
    ]
    return torch.stack(parts, 2).reshape(self.shape[0], self.shape[1] * kh * kw, rows * columns)


@decomposes("isclose")
def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Any:
    if self.dtype == torch.bool:
        return self == other
    near = (self == other) | (
        torch.isfinite(self) & torch.isfinite(other) & (abs(self - other) <= atol + rtol * abs(other))
    )
    return near | (torch.isnan(self) & torch.isnan(other)) if equal_nan else near


@decomposes("isin")
def isin(assume_unique: bool, invert: bool, **operands: Any) -> Any:
    elements, tests = (torch.as_tensor(value) for value in operands.values())
    found = (elements.unsqueeze(-1) == tests.reshape(-1)).any(-1)
    return ~found if invert else found


@decomposes("bucketize", "searchsorted")
def searchsorted(
    self: Any,
    boundaries: Tensor | None = None,
    sorted_sequence: Tensor | None = None,
    sorter: Tensor | None = None,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
) -> Any:
    """How many boundaries come before each number."""
    rows = boundaries if sorted_sequence is None else sorted_sequence
    assert rows is not None
    rows = rows if sorter is None else rows.gather(-1, sorter)
    numbers = torch.as_tensor(self)
    rows = rows.unsqueeze(-2) if rows.dim() > 1 else rows

    before = rows <= numbers.unsqueeze(-1) if right or side == "right" else rows < numbers.unsqueeze(-1)
    return before.sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def _prefixes(self: Tensor, dim: int, neutral: float) -> Any:
    """A last dimension with the numbers up to each place along `dim`, and `neutral` after them."""
    last = self.movedim(dim, -1)
    is_before = torch.ones(last.shape[-1], last.shape[-1], dtype=torch.bool).tril()
    return torch.where(is_before, last.unsqueeze(-2), neutral)


@decomposes("cumprod")
def cumprod(self: Tensor, dim: int, dtype: Any) -> Any:
    if self.dim() == 0:
        return self.clone() if dtype is None else self.to(dtype)
    return _prefixes(self, dim, 1).prod(-1, dtype=dtype).movedim(-1, dim)


@decomposes("logcumsumexp")
def logcumsumexp(self: Tensor, dim: int) -> Any:
    if self.dim() == 0:
        return self.clone()
    return _prefixes(self, dim, -math.inf).logsumexp(-1).movedim(-1, dim)


@decomposes("median", "kthvalue")
def median(self: Tensor, dim: int | None = None, keepdim: bool = False, k: int | None = None) -> Any:
    """An element of the sorted numbers."""
    if dim is None:
        values = self.reshape(-1).sort().values
        return values[(values.shape[0] - 1) // 2]
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    found = self.sort(dim)
    place = (self.shape[dim] - 1) // 2 if k is None else k - 1
    parts = [part.select(dim, place) for part in found]
    return tuple(part.unsqueeze(dim) for part in parts) if keepdim else tuple(parts)


@decomposes("masked_scatter")
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The k-th place where the mask is true gets the k-th element of the source."""
    own, mask = torch.broadcast_tensors(self, mask)
    places = mask.reshape(-1).cumsum(0) - 1
    chosen = source.reshape(-1).index_select(0, places.clamp(min=0)).reshape(own.shape)
    return torch.where(mask, chosen, own)


@decomposes("index_fill")
def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    if self.dim() == 0:
        return index_fill(self.reshape(1), 0, index.reshape(1), value).reshape(())
    sizes = list(self.shape)
    sizes[dim] = index.numel()
    filled = value.expand(sizes) if isinstance(value, Tensor) else value
    return self.scatter(dim, _along(dim, index, sizes), filled)


@decomposes("_max_unpool")
def max_unpool(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Any:
    spatial = len(output_size)
    lead = self.shape[: self.dim() - spatial]
    flat = torch.zeros(*lead, math.prod(output_size), dtype=self.dtype)
    filled = flat.scatter(-1, indices.reshape(*lead, -1), self.reshape(*lead, -1))
    return filled.reshape(*lead, *output_size)


@decomposes("_safe_softmax")
def safe_softmax(self: Tensor, dim: int, dtype: Any = None) -> Any:
    weights = self.softmax(dim, dtype=dtype)
    return torch.where((self == -math.inf).all(dim, keepdim=True), 0.0, weights)


@decomposes("_softmax_backward_data")
def softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Any:
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


@decomposes("_log_softmax_backward_data")
def log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Any:
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)
