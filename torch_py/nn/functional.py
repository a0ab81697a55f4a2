"""Layers as functions.

Where PyTorch's function has the operator's arguments it is the operator itself; the other functions adapt
arguments.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from torch_py import _C, _functional
from torch_py._C import _nn, _torch
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn import (
    _attention,
    _convolution,
    _dropout,
    _grouped_products,
    _pooling,
    _ranking_losses,
    _resampling,
)
from torch_py.nn import _reduction as _Reduction  # noqa: N812  # PyTorch's name
from torch_py.nn._attention import *
from torch_py.nn._convolution import *
from torch_py.nn._dropout import *
from torch_py.nn._grouped_products import *
from torch_py.nn._losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    linear_cross_entropy,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from torch_py.nn._pooling import *
from torch_py.nn._ranking_losses import *
from torch_py.nn._resampling import *
from torch_py.types import _dtype

__all__ = [
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cosine_similarity",
    "cross_entropy",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "gelu",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "huber_loss",
    "instance_norm",
    "kl_div",
    "l1_loss",
    "linear_cross_entropy",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]
__all__ += [
    *_attention.__all__,
    *_convolution.__all__,
    *_dropout.__all__,
    *_pooling.__all__,
    *_grouped_products.__all__,
    *_ranking_losses.__all__,
    *_resampling.__all__,
]


linear = _nn.linear
softshrink = _nn.softshrink
hardshrink = _torch.hardshrink
prelu = _torch.prelu
elu_ = _nn.elu_
leaky_relu_ = _nn.leaky_relu_
hardtanh_ = _nn.hardtanh_
relu_ = _torch.relu_
selu_ = _torch.selu_
celu_ = _torch.celu_
rrelu_ = _torch.rrelu_
threshold_ = _torch.threshold_
gelu = _nn.gelu
softplus = _nn.softplus
one_hot = _nn.one_hot
cosine_similarity = _torch.cosine_similarity
pairwise_distance = _torch.pairwise_distance
pdist = _torch.pdist
bilinear = _torch.bilinear
_relu = _torch.relu
_selu = _torch.selu
_celu = _torch.celu
_glu = _nn.glu
_rrelu = _torch.rrelu
_threshold = _torch.threshold
_relu6 = _nn.relu6
_relu6_in_place = _nn.relu6_
_hardsigmoid = _nn.hardsigmoid
_hardsigmoid_in_place = _nn.hardsigmoid_
_sigmoid = _torch.sigmoid
_tanh = _torch.tanh
_log_sigmoid = _nn.log_sigmoid
_mish = _nn.mish
_mish_in_place = _nn.mish_
_hardswish = _nn.hardswish
_hardswish_in_place = _nn.hardswish_
_group_norm = _torch.group_norm
_batch_norm = _torch.batch_norm
_layer_norm = _torch.layer_norm
_embedding = _torch.embedding
_instance_norm = _torch.instance_norm
_rms_norm = _torch.rms_norm
_embedding_bag = _torch.embedding_bag
_embedding_renorm_ = _torch.embedding_renorm_
_silu = _nn.silu
_silu_in_place = _nn.silu_
_elu = _nn.elu
_leaky_relu = _nn.leaky_relu
_hardtanh = _nn.hardtanh
_softmax = _torch.softmax
_log_softmax = _torch.log_softmax


# Activations
# ------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Rectified linear unit: max(input, 0)."""
    return relu_(input) if inplace else _relu(input)


def sigmoid(input: Tensor) -> Tensor:
    """Logistic function: 1 / (1 + exp(-input))."""
    return _sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent of every element."""
    return _tanh(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Sigmoid linear unit: input * sigmoid(input)."""
    return _silu_in_place(input) if inplace else _silu(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Exponential linear unit: input where it is positive, alpha * (exp(input) - 1) elsewhere."""
    return elu_(input, alpha) if inplace else _elu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Leaky rectified linear unit: input where it is positive, negative_slope * input elsewhere."""
    return (leaky_relu_ if inplace else _leaky_relu)(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limits input to [min_val, max_val]. Raises ValueError if min_val > max_val."""
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return (hardtanh_ if inplace else _hardtanh)(input, min_val, max_val)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Mish activation: input * tanh(log(1 + exp(input)))."""
    return _mish_in_place(input) if inplace else _mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Piecewise approximation of `silu`: input * relu6(input + 3) / 6."""
    return _hardswish_in_place(input) if inplace else _hardswish(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Limits input to [0, 6]."""
    return (_relu6_in_place if inplace else _relu6)(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Piecewise linear approximation of `sigmoid`: relu6(input + 3) / 6."""
    return _hardsigmoid_in_place(input) if inplace else _hardsigmoid(input)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Scaled `elu`, with the scale and alpha that keep mean 0 and variance 1 from layer to layer."""
    return selu_(input) if inplace else _selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Continuously differentiable `elu`: input where it is positive, alpha * (exp(input / alpha) - 1)
    elsewhere. Raises RuntimeError if alpha is 0."""
    return (celu_ if inplace else _celu)(input, alpha)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Returns input where it is above the threshold, `value` elsewhere."""
    return (threshold_ if inplace else _threshold)(input, threshold, value)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Computes `leaky_relu` with a slope drawn from [lower, upper) for each element in training, and with the
    mean of both otherwise."""
    return (rrelu_ if inplace else _rrelu)(input, lower, upper, training)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Gated linear unit: the first half of input along `dim` times the sigmoid of the second half.

    Raises RuntimeError if the size is odd.
    """
    return _glu(input, dim)


def softsign(input: Tensor) -> Tensor:
    """Returns input / (1 + |input|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """Returns input - tanh(input)."""
    return input - input.tanh()


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draws a random one-hot choice with probabilities softmax(logits), relaxed to a softmax with temperature
    `tau` (Jang et al. 2017).

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
    """Returns log(sigmoid(input)), accurate also where the sigmoid underflows."""
    return _log_sigmoid(input)


def _chosen_dim(function: str, dim: int | None, ndim: int) -> int:
    """Returns `dim`, or the dimension that older programs rely on, with a warning."""
    if dim is not None:
        return dim
    chosen = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(
        f"{function}: dim was not given and is guessed to be {chosen}; say dim={chosen} to keep it",
        stacklevel=3,
    )
    return chosen


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Returns exp(input) divided by its sum along `dim`, computed in `dtype` if given."""
    return _softmax(input, _chosen_dim("softmax", dim, input.dim()), dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Computes `softmax` of -input along `dim`."""
    return _softmax(-input, _chosen_dim("softmin", dim, input.dim()), dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Returns log(softmax(input)) along `dim`, without overflow or loss of precision."""
    return _log_softmax(input, _chosen_dim("log_softmax", dim, input.dim()), dtype=dtype)


# Layers
# ------------------------------------------------------------


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each channel (dimension 1): (input - mean) / sqrt(var + eps) * weight + bias.

    In training, mean and variance are those of the batch, and the running ones move towards them by
    `momentum`; otherwise the running ones are used. Raises ValueError if a channel of a training batch has a
    single value, and for a negative `eps` (in training also for 0).
    """
    if eps <= 0 if training else eps < 0:
        raise ValueError(
            f"batch_norm eps must be {'positive during training' if training else 'non-negative'}, "
            f"but got {eps}"
        )
    if training and input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )

    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each sample over its last dimensions, whose sizes are `normalized_shape`:
    (input - mean) / sqrt(var + eps) * weight + bias."""
    return _layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each of `num_groups` groups of channels (dimension 1) of a sample, together with all later
    dimensions: (input - mean) / sqrt(var + eps) * weight + bias, with one weight and bias per channel.

    Raises ValueError if each group of the whole batch has a single value.
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    sizes = [input.size(0) * input.size(1) // num_groups, num_groups, *input.size()[2:]]
    if sizes[0] * math.prod(sizes[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {sizes}")
    return _group_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each channel of each sample: (input - mean) / sqrt(var + eps) * weight + bias.

    Statistics are the sample's own, or the running ones if `use_input_stats` is False.
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return _instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False
    )


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divides by the root mean square over the last dimensions, whose sizes are `normalized_shape`:
    input / sqrt(mean(input²) + eps) * weight (Zhang & Sennrich 2019)."""
    return _rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divides by a power of the mean square of `size` neighboring channels:
    input / (k + alpha * mean) ** beta (Krizhevsky et al. 2012)."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input

    # View the input as images (N, 1, C, everything else), whose rows are the channels.
    squares = input.mul(input).reshape(input.size(0), 1, input.size(1), -1)
    padded = _resampling.pad(squares, (0, 0, size // 2, (size - 1) // 2))
    means = _pooling.avg_pool2d(padded, (size, 1), stride=1)

    return input / means.reshape(input.shape).mul(alpha).add(k).pow(beta)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Looks up rows of `weight` (count, width) by the integers in `input`, of any shape: the result has shape
    input.shape + (width,).

    Row `padding_idx` gets no gradient. Rows whose norm exceeds `max_norm` are scaled down in `weight` itself.
    Raises AssertionError for a padding_idx outside the rows.
    """
    if sparse:
        raise NotImplementedError("embedding: sparse gradients are not part of this build of torch_py")

    row = -1 if padding_idx is None else padding_idx
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            raise AssertionError(
                f"Padding_idx must be within num_embeddings: got {padding_idx} and {weight.shape[0]} rows"
            )
        row = padding_idx % weight.shape[0]

    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)

    return _embedding(weight, input, row, scale_grad_by_freq, sparse)


def _limit_norms(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales down, in place, the rows of `weight` that `input` picks and whose norm exceeds `max_norm`."""
    with no_grad():
        _embedding_renorm_(weight, input, max_norm, norm_type)


_BAG_MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Looks up rows of `weight` and reduces them to their sum, mean or maximum in each bag: a row of a 2-D
    `input`, or the part between two `offsets` of a 1-D one.

    `per_sample_weights` scale the rows of a sum. Indices equal to `padding_idx` are left out. Raises
    ValueError if the offsets do not fit the input.
    """
    if weight.dtype == _C.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, "
            "...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight

    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it "
            f"must have the same shape as the input ({tuple(input.shape)})"
        )
    if not weight.dim() == 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")

    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        # Every row is a bag, so the offsets are multiples of the width.
        width = input.size(1)
        offsets = (
            _torch.arange(0, input.numel(), width, dtype=input.dtype, device=input.device)
            if width
            else input.new_zeros(input.size(0))
        )
        input = input.reshape(-1)
        include_last_offset = False
        per_sample_weights = per_sample_weights.reshape(-1) if per_sample_weights is not None else None
    elif input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")

    if mode not in _BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError(
            "max mode does not support "
            + ("scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights")
        )
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )

    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)

    return _embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _BAG_MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]


# Compositions
# ------------------------------------------------------------


def normalize(
    input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Divides by the p-norm along `dim`: input / max(norm, eps)."""
    result = input / _functional.norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)


__getattr__ = _lacking(__name__)
