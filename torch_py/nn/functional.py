"""Layers as functions. Operators are used as they are where PyTorch's function has the operator's arguments; the rest adapts arguments."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _nn, _torch
from torch_py._namespace import find_operator
from torch_py._tensor import Tensor
from torch_py.nn import _convolution, _pooling, _resampling
from torch_py.nn._convolution import *
from torch_py.nn._losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from torch_py.nn._pooling import *
from torch_py.nn._resampling import *

__all__ = [
    "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_similarity", "cross_entropy", "dropout", "dropout2d",
    "elu", "embedding", "gelu", "group_norm", "hardswish", "hardtanh", "huber_loss", "kl_div", "l1_loss", "layer_norm", "leaky_relu",
    "linear", "log_softmax", "logsigmoid", "mish", "mse_loss", "nll_loss", "normalize", "one_hot", "pairwise_distance", "pdist", "relu",
    "relu6", "scaled_dot_product_attention", "sigmoid", "silu", "smooth_l1_loss", "softmax", "softmin", "softplus", "tanh",
]  # fmt: skip
__all__ += [*_convolution.__all__, *_pooling.__all__, *_resampling.__all__]


def _operator(name: str) -> Any:
    return find_operator(name, _nn, _torch, _C.TensorBase)


linear = _operator("linear")
softshrink, hardshrink, prelu = _operator("softshrink"), _operator("hardshrink"), _operator("prelu")
elu_, leaky_relu_, hardtanh_ = _operator("elu_"), _operator("leaky_relu_"), _operator("hardtanh_")
relu_, selu_, celu_ = _operator("relu_"), _operator("selu_"), _operator("celu_")
rrelu_, threshold_ = _operator("rrelu_"), _operator("threshold_")
gelu = _operator("gelu")
softplus = _operator("softplus")
one_hot = _operator("one_hot")
cosine_similarity = _operator("cosine_similarity")
pairwise_distance = _operator("pairwise_distance")
pdist = _operator("pdist")
bilinear = _operator("bilinear")
_relu, _selu, _celu, _glu = _operator("relu"), _operator("selu"), _operator("celu"), _operator("glu")
_rrelu, _threshold = _operator("rrelu"), _operator("threshold")
_hardsigmoid, _hardsigmoid_in_place = _operator("hardsigmoid"), _operator("hardsigmoid_")
_sigmoid, _tanh, _log_sigmoid = _operator("sigmoid"), _operator("tanh"), _operator("log_sigmoid")
_mish, _mish_in_place = _operator("mish"), _operator("mish_")
_hardswish, _hardswish_in_place = _operator("hardswish"), _operator("hardswish_")
_group_norm = _operator("group_norm")
_batch_norm, _layer_norm, _embedding, _dropout = _operator("batch_norm"), _operator("layer_norm"), _operator("embedding"), _operator("dropout")
_silu, _silu_in_place, _elu = _operator("silu"), _operator("silu_"), _operator("elu")
_leaky_relu, _hardtanh = _operator("leaky_relu"), _operator("hardtanh")
_softmax, _log_softmax = _operator("softmax"), _operator("log_softmax")


# Activations ------------------------------------------------------------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0)"""
    return relu_(input) if inplace else _relu(input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input))"""
    return _sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    return _tanh(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)"""
    return _silu_in_place(input) if inplace else _silu(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, alpha * (exp(input) - 1) elsewhere"""
    return elu_(input, alpha) if inplace else _elu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """input where positive, negative_slope * input elsewhere"""
    return (leaky_relu_ if inplace else _leaky_relu)(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """input cut off at both ends. Raises ValueError when min_val > max_val."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: expected min_val <= max_val, got {min_val} and {max_val}")
    return (hardtanh_ if inplace else _hardtanh)(input, min_val, max_val)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(log(1 + exp(input)))"""
    return _mish_in_place(input) if inplace else _mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * relu6(input + 3) / 6"""
    return _hardswish_in_place(input) if inplace else _hardswish(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(input + 3) / 6"""
    return _hardsigmoid_in_place(input) if inplace else _hardsigmoid(input)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the scale and alpha for which activations keep mean 0 and variance 1"""
    return selu_(input) if inplace else _selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, alpha * (exp(input / alpha) - 1) elsewhere. Raises RuntimeError when alpha is 0."""
    return (celu_ if inplace else _celu)(input, alpha)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input where above the threshold, `value` elsewhere"""
    return (threshold_ if inplace else _threshold)(input, threshold, value)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """leaky_relu with a slope drawn from [lower, upper) for each element in training, else their mean"""
    return (rrelu_ if inplace else _rrelu)(input, lower, upper, training)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of input along `dim` times the sigmoid of the second. Raises RuntimeError when there are no two halves."""
    return _glu(input, dim)


def softsign(input: Tensor) -> Tensor:
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    return input - input.tanh()


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random one-hot choice with probabilities softmax(logits), relaxed by the temperature `tau` (Jang et al. 2017).

    With `hard` the result is one-hot and has the gradient of the relaxed one. `eps` has no effect.
    """
    noise = -_torch.empty_like(logits, memory_format=_C.contiguous_format).exponential_().log()
    relaxed = _softmax((logits + noise) / tau, dim)
    if not hard:
        return relaxed
    chosen = relaxed.max(dim, keepdim=True)[1]
    one_hot = _torch.zeros_like(logits, memory_format=_C.contiguous_format).scatter_(dim, chosen, 1.0)
    return one_hot - relaxed.detach() + relaxed


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)), exact also where sigmoid underflows"""
    return _log_sigmoid(input)


def _chosen_dim(function: str, dim: int | None, ndim: int) -> int:
    if dim is not None:
        return dim
    chosen = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(f"{function}: dim was not given and is guessed to be {chosen}; say dim={chosen} to keep it", stacklevel=3)
    return chosen


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(input) normalised to sum to one along `dim`; computed in `dtype` if given"""
    return _softmax(input, _chosen_dim("softmax", dim, input.dim()), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return _softmax(-input, _chosen_dim("softmin", dim, input.dim()), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(input)), without the overflow and the loss of digits"""
    return _log_softmax(input, _chosen_dim("log_softmax", dim, input.dim()), dtype=dtype)


# Dropout ----------------------------------------------------------------------------------------------------------------------------


def _check_probability(function: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{function}: dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training sets elements to zero with probability `p` and scales the others by 1 / (1 - p)."""
    _check_probability("dropout", p)
    if not inplace:
        return _dropout(input, p, training)
    return input.mul_(_kept(tuple(input.shape), p, input)) if training and p > 0.0 else input


def _kept(shape: tuple[int, ...], p: float, like: Tensor) -> Tensor:
    """Zeros with probability `p`, 1 / (1 - p) elsewhere."""
    keep = _torch.empty(shape, dtype=like.dtype, device=like.device).bernoulli_(1 - p)
    return keep.div_(1 - p) if p < 1.0 else keep


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops whole channels of an input of shape (N, C, H, W)."""
    _check_probability("dropout2d", p)
    if not training or p == 0.0:
        return input
    scale = _kept((*input.shape[:2], *([1] * (input.dim() - 2))), p, input)
    return input.mul_(scale) if inplace else input * scale


# Layers -----------------------------------------------------------------------------------------------------------------------------


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """(input - mean) / sqrt(var + eps) * weight + bias for each channel (dimension 1).

    In training mean and variance are the batch's, and the running ones move towards them by `momentum`; otherwise they are the running
    ones. Raises ValueError when a channel of a training batch has a single value.
    """
    if training and input.numel() == input.shape[1]:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Like batch_norm, over the last dimensions, which are `normalized_shape`, for each of the others."""
    return _layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Like layer_norm, over groups of channels (dimension 1) and all later dimensions; weight and bias are per channel."""
    return _group_norm(input, num_groups, weight, bias, eps)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of `weight` (count, width) picked by `input`, integers of any shape: shape input.shape + (width,).

    Row `padding_idx` gets no gradient. Raises AssertionError for a padding_idx outside the rows.
    """
    if max_norm is not None or sparse:
        raise NotImplementedError("embedding: max_norm and sparse gradients are not part of this build of torch_py")
    row = -1 if padding_idx is None else padding_idx
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            raise AssertionError(f"Padding_idx must be within num_embeddings: got {padding_idx} and {weight.shape[0]} rows")
        row = padding_idx % weight.shape[0]
    return _embedding(weight, input, row, scale_grad_by_freq, sparse)


# Compositions -----------------------------------------------------------------------------------------------------------------------


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """input / max(p-norm along dim, eps)"""
    from torch_py._functional import norm

    result = input / norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query · keyᵀ * scale + mask) · value; query (..., L, E), key (..., S, E), value (..., S, V) give (..., L, V).

    `scale` is 1 / sqrt(E) by default. A boolean mask is True where a key takes part; another is added. `is_causal` masks what is later.
    """
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(repeats, -3), value.repeat_interleave(repeats, -3)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query.matmul(key.transpose(-2, -1)) * factor
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("scaled_dot_product_attention: expected either attn_mask or is_causal=True, got both")
        attn_mask = _torch.ones(scores.shape[-2:], dtype=_C.bool).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf) if attn_mask.dtype == _C.bool else scores + attn_mask
    return dropout(_softmax(scores, -1), dropout_p).matmul(value)
