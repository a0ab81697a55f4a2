"""Layers and losses that ONNX lacks, written with operators that it has. See _decompositions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py._tensor import Tensor
from torch_py.onnx._decompositions import DECOMPOSITIONS, decomposes


def _reduced(loss: Any, reduction: int) -> Any:
    return loss if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()


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


@decomposes("cross_entropy_loss")
def cross_entropy(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Any:
    """The mean is weighted by class and taken over the targets that are not `ignore_index`."""
    if target.is_floating_point() or label_smoothing:
        return NotImplemented
    return _nll(torch.log_softmax(self, 0 if self.dim() == 1 else 1), target, weight, reduction, ignore_index)


@decomposes("nll_loss_nd", "nll_loss")
def nll_loss(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    return _nll(self, target, weight, reduction, ignore_index)


def _nll(scores: Any, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    dim = 0 if scores.dim() == 1 else 1
    kept = target != ignore_index
    safe = torch.where(kept, target, 0)
    loss = -torch.gather(scores, dim, safe.unsqueeze(dim)).squeeze(dim)
    factors = kept.to(scores.dtype) if weight is None else torch.where(kept, weight[safe], 0.0)
    loss = torch.where(kept, loss * factors, 0.0)
    return loss if reduction == 0 else loss.sum() / factors.sum() if reduction == 1 else loss.sum()


def _gates(
    input: Tensor, hidden: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> tuple[Any, Any]:
    linear = torch.nn.functional.linear
    return linear(input, w_ih, b_ih), linear(hidden, w_hh, b_hh)


@decomposes("lstm_cell")
def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Any:
    one, other = _gates(input, hx[0], w_ih, w_hh, b_ih, b_hh)
    i, f, c, o = (one + other).chunk(4, -1)
    cell = torch.sigmoid(f) * hx[1] + torch.sigmoid(i) * torch.tanh(c)
    return torch.sigmoid(o) * torch.tanh(cell), cell


@decomposes("gru_cell")
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Any:
    (r, z, n), (hr, hz, hn) = (part.chunk(3, -1) for part in _gates(input, hx, w_ih, w_hh, b_ih, b_hh))
    new = torch.tanh(n + torch.sigmoid(r + hr) * hn)
    return new + torch.sigmoid(z + hz) * (hx - new)


@decomposes("rnn_tanh_cell", "rnn_relu_cell")
def rnn_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> Any:
    return torch.tanh(sum(_gates(input, hx, w_ih, w_hh, b_ih, b_hh)))


DECOMPOSITIONS["rnn_relu_cell"] = lambda **given: torch.relu(
    sum(_gates(given.pop("input"), given.pop("hx"), **given))
)


@decomposes("pixel_unshuffle")
def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Any:
    r = downscale_factor
    c, h, w = self.shape[-3:]
    lead = self.shape[:-3]
    apart = self.reshape(*lead, c, h // r, r, w // r, r)
    k = len(lead)
    return apart.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)


@decomposes("channel_shuffle")
def channel_shuffle(self: Tensor, groups: int) -> Any:
    return (
        self.reshape(self.shape[0], groups, self.shape[1] // groups, *self.shape[2:])
        .transpose(1, 2)
        .reshape(self.shape)
    )


@decomposes("im2col")
def im2col(self: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Stacks one slice of the input for each position in the kernel."""
    pair = [v if isinstance(v, (list, tuple)) else (v, v) for v in (kernel_size, dilation, padding, stride)]
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = ((v[0], v[-1]) for v in pair)
    if self.dim() != 4:
        return NotImplemented

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


DECOMPOSITIONS["mse_loss"] = lambda self, target, reduction: _reduced((self - target) ** 2, reduction)
DECOMPOSITIONS["l1_loss"] = lambda self, target, reduction: _reduced(abs(self - target), reduction)


@decomposes("smooth_l1_loss")
def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int, beta: float) -> Any:
    error = abs(self - target)
    return _reduced(
        error if beta == 0 else torch.where(error < beta, error * error * (0.5 / beta), error - 0.5 * beta),
        reduction,
    )


@decomposes("huber_loss")
def huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> Any:
    error = abs(self - target)
    return _reduced(
        torch.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta)), reduction
    )


@decomposes("binary_cross_entropy")
def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Any:
    """Logarithms are limited to at least -100."""
    loss = -(
        target * torch.clamp(torch.log(self), min=-100)
        + (1 - target) * torch.clamp(torch.log(1 - self), min=-100)
    )
    return _reduced(loss if weight is None else loss * weight, reduction)


@decomposes("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Any:
    """(1 - target) x + (1 + (pos_weight - 1) target) log(1 + exp(-x)), in a form that does not overflow."""
    soft = torch.clamp(-self, min=0) + torch.log(torch.exp(-abs(self)) + 1)
    loss = (1 - target) * self + (soft if pos_weight is None else ((pos_weight - 1) * target + 1) * soft)
    return _reduced(loss if weight is None else loss * weight, reduction)


@decomposes("kl_div")
def kl_div(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Any:
    loss = torch.exp(target) * (target - self) if log_target else torch.xlogy(target, target) - target * self
    return _reduced(loss, reduction)
