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
    """Applies the rectified linear unit:

        relu(x) = max(x, 0)

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])
    """
    return relu_(input) if inplace else _relu(input)


def sigmoid(input: Tensor) -> Tensor:
    """Applies the logistic function, which maps real numbers to (0, 1):

        sigmoid(x) = 1 / (1 + exp(-x))

    Args:
        input: any shape

    Example:
        >>> F.sigmoid(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0.2689, 0.5000, 0.8808])
    """
    return _sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Applies the hyperbolic tangent, which maps real numbers to (-1, 1):

        tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x))

    Args:
        input: any shape

    Example:
        >>> F.tanh(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.7616,  0.0000,  0.9640])
    """
    return _tanh(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies the sigmoid linear unit, also called swish:

        silu(x) = x / (1 + exp(-x))

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.silu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2689,  0.0000,  1.7616])
    """
    return _silu_in_place(input) if inplace else _silu(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Applies the exponential linear unit:

        elu(x) = x                       if x > 0
                 alpha · (exp(x) - 1)    otherwise

    Args:
        input: any shape
        alpha: minus the limit for x towards -∞; default 1.0
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.elu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.6321,  0.0000,  2.0000])
    """
    return elu_(input, alpha) if inplace else _elu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Applies a rectified linear unit with a small slope for negative elements:

        leaky_relu(x) = x                     if x > 0
                        negative_slope · x    otherwise

    Args:
        input: any shape
        negative_slope: the slope; default 0.01
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.leaky_relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.0100,  0.0000,  2.0000])
    """
    return (leaky_relu_ if inplace else _leaky_relu)(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limits every element to [min_val, max_val].

    Args:
        input: any shape
        min_val: the lower limit; default -1.0
        max_val: the upper limit; default 1.0
        inplace: whether to overwrite the input; default False

    Raises:
        ValueError: `min_val` is above `max_val`

    Example:
        >>> F.hardtanh(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-1.,  0.,  1.])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, got {min_val} and {max_val}")
    return (hardtanh_ if inplace else _hardtanh)(input, min_val, max_val)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies Mish, a smooth function that lets small negative values through:

        mish(x) = x · tanh(log(1 + exp(x)))

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.mish(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.3034,  0.0000,  1.9440])
    """
    return _mish_in_place(input) if inplace else _mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies a piecewise approximation of `silu`:

        hardswish(x) = x · min(max(x + 3, 0), 6) / 6

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.hardswish(torch.tensor([-1.0, 1.0, 4.0]))
        tensor([-0.3333,  0.6667,  4.0000])
    """
    return _hardswish_in_place(input) if inplace else _hardswish(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Limits every element to [0, 6]:

        relu6(x) = min(max(x, 0), 6)

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.relu6(torch.tensor([-1.0, 3.0, 8.0]))
        tensor([0., 3., 6.])
    """
    return (_relu6_in_place if inplace else _relu6)(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies a piecewise linear approximation of the sigmoid:

        hardsigmoid(x) = min(max(x + 3, 0), 6) / 6

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.hardsigmoid(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0.3333, 0.5000, 0.8333])
    """
    return _hardsigmoid_in_place(input) if inplace else _hardsigmoid(input)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Applies a scaled exponential linear unit that keeps mean 0 and variance 1 from layer to layer:

        selu(x) = scale · x                       if x > 0
                  scale · alpha · (exp(x) - 1)    otherwise

    Args:
        input: any shape
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.selu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-1.1113,  0.0000,  2.1014])
    """
    return selu_(input) if inplace else _selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Applies a continuously differentiable exponential linear unit:

        celu(x) = x                               if x > 0
                  alpha · (exp(x / alpha) - 1)    otherwise

    Args:
        input: any shape
        alpha: minus the limit for x towards -∞; default 1.0
        inplace: whether to overwrite the input; default False

    Raises:
        RuntimeError: `alpha` is 0

    Example:
        >>> F.celu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.6321,  0.0000,  2.0000])
    """
    return (celu_ if inplace else _celu)(input, alpha)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replaces elements that are not above a threshold:

        threshold(x) = x        if x > threshold
                       value    otherwise

    Args:
        input: any shape
        threshold: the largest number that is replaced
        value: the replacement
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.threshold(torch.tensor([0.0, 0.5, 1.0]), 0.5, 9.0)
        tensor([9., 9., 1.])
    """
    return (threshold_ if inplace else _threshold)(input, threshold, value)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Applies a leaky rectified linear unit with random slopes for negative elements:

        rrelu(x) = x        if x >= 0
                   a · x    otherwise

    Args:
        input: any shape
        lower: the smallest slope; default 1/8
        upper: the largest slope; default 1/3
        training: whether a is drawn from [lower, upper) for each element; otherwise it is their mean; default
            False
        inplace: whether to overwrite the input; default False

    Example:
        >>> F.rrelu(torch.tensor([-2.0, 3.0]), 0.1, 0.3)
        tensor([-0.4000,  3.0000])
    """
    return (rrelu_ if inplace else _rrelu)(input, lower, upper, training)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Multiplies the first half along a dimension by the sigmoid of the second half:

        glu(a, b) = a · sigmoid(b)

    Args:
        input: any shape
        dim: the dimension that is halved; default -1

    Raises:
        RuntimeError: the size of the dimension is odd

    Example:
        >>> F.glu(torch.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])
    """
    return _glu(input, dim)


def softsign(input: Tensor) -> Tensor:
    """Maps real numbers to (-1, 1), with slower saturation than tanh:

        softsign(x) = x / (1 + |x|)

    Args:
        input: any shape

    Example:
        >>> F.softsign(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.5000,  0.0000,  0.6667])
    """
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """Applies the difference between the identity and tanh:

        tanhshrink(x) = x - tanh(x)

    Args:
        input: any shape

    Example:
        >>> F.tanhshrink(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2384,  0.0000,  1.0360])
    """
    return input - input.tanh()


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draws random choices with probabilities softmax(logits), relaxed so that gradients pass:

        y = softmax((logits + g) / tau)    with g from the Gumbel distribution

    Source: Jang, Gu and Poole, Categorical reparameterization with Gumbel-softmax (2016).

    Args:
        logits: scores of any shape
        tau: the temperature: the lower, the closer results are to 0 and 1; default 1
        hard: whether results are exactly one-hot, with the gradient of the relaxed ones; default False
        eps: has no effect
        dim: the dimension of the choices; default -1

    Example:
        >>> F.gumbel_softmax(torch.zeros(2, 3), hard=True).sum(dim=1)
        tensor([1., 1.])
    """
    noise = -_torch.empty_like(logits, memory_format=_C.contiguous_format).exponential_().log()
    relaxed = _softmax((logits + noise) / tau, dim)
    if not hard:
        return relaxed
    chosen = relaxed.max(dim, keepdim=True)[1]
    one_hot = _torch.zeros_like(logits, memory_format=_C.contiguous_format).scatter_(dim, chosen, 1.0)
    return one_hot - relaxed.detach() + relaxed


def logsigmoid(input: Tensor) -> Tensor:
    """Applies the logarithm of the logistic function, accurately for large negative elements too:

        logsigmoid(x) = -log(1 + exp(-x))

    Args:
        input: any shape

    Example:
        >>> F.logsigmoid(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-1.3133, -0.6931, -0.1269])
    """
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
    """Turns scores into probabilities along a dimension:

        softmax(x)ᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

    Args:
        input: any shape
        dim: the dimension; None, the default, guesses one and warns
        dtype: the dtype to convert the scores to before; default None, their own
        _stacklevel: how many calls up the warning points

    Example:
        >>> F.softmax(torch.tensor([0.0, 1.0, 2.0]), dim=0)
        tensor([0.0900, 0.2447, 0.6652])
    """
    return _softmax(input, _chosen_dim("softmax", dim, input.dim()), dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Turns scores into probabilities of which the lowest score has the greatest:

        softmin(x)ᵢ = exp(-xᵢ) / Σⱼ exp(-xⱼ)

    Args:
        input: any shape
        dim: the dimension; None, the default, guesses one and warns
        dtype: the dtype to convert the scores to before; default None, their own
        _stacklevel: how many calls up the warning points

    Example:
        >>> F.softmin(torch.tensor([0.0, 1.0, 2.0]), dim=0)
        tensor([0.6652, 0.2447, 0.0900])
    """
    return _softmax(-input, _chosen_dim("softmin", dim, input.dim()), dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _dtype | None = None
) -> Tensor:
    """Computes the logarithm of the softmax along a dimension, without overflow:

        log_softmax(x)ᵢ = xᵢ - log(Σⱼ exp(xⱼ))

    Args:
        input: any shape
        dim: the dimension; None, the default, guesses one and warns
        dtype: the dtype to convert the scores to before; default None, their own
        _stacklevel: how many calls up the warning points

    Example:
        >>> F.log_softmax(torch.tensor([0.0, 1.0, 2.0]), dim=0)
        tensor([-2.4076, -1.4076, -0.4076])
    """
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
    """Normalizes each channel of a batch:

        y = (x - mean) / √(var + eps) · weight + bias

    In training, mean and variance are those of the batch, and the running ones move towards them; otherwise
    the running ones are used.

    Args:
        input: (N, C, ...)
        running_mean, running_var: (C,), or None
        weight, bias: (C,), or None
        training: whether to use the statistics of the batch; default False
        momentum: the weight of the batch in the running statistics; default 0.1
        eps: what is added to the variance; default 1e-5

    Raises:
        ValueError: a channel of a training batch has a single value

    Example:
        >>> F.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])
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
    """Normalizes each sample over its last dimensions:

        y = (x - mean) / √(var + eps) · weight + bias

    Args:
        input: (..., *normalized_shape)
        normalized_shape: the sizes of the last dimensions
        weight, bias: of shape `normalized_shape`, or None
        eps: what is added to the variance; default 1e-5

    Example:
        >>> F.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    return _layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes groups of channels of each sample:

        y = (x - mean) / √(var + eps) · weight + bias

    Args:
        input: (N, C, ...)
        num_groups: the number of groups, which must divide C
        weight, bias: (C,), or None
        eps: what is added to the variance; default 1e-5

    Raises:
        ValueError: each group of the whole batch has a single value

    Example:
        >>> F.group_norm(torch.ones(2, 4, 3), num_groups=2).shape
        torch.Size([2, 4, 3])
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
    """Normalizes each channel of each sample:

        y = (x - mean) / √(var + eps) · weight + bias

    Args:
        input: (N, C, ...)
        running_mean, running_var: (C,), or None
        weight, bias: (C,), or None
        use_input_stats: whether to use the statistics of the sample instead of the running ones; default True
        momentum: the weight of the batch in the running statistics; default 0.1
        eps: what is added to the variance; default 1e-5

    Example:
        >>> F.instance_norm(torch.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return _instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False
    )


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divides by the root mean square of the last dimensions:

        y = x / √(mean(x²) + eps) · weight

    Args:
        input: (..., *normalized_shape)
        normalized_shape: the sizes of the last dimensions
        weight: of shape `normalized_shape`, or None
        eps: what is added to the mean square; default None, the precision of the dtype

    Example:
        >>> F.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
        tensor([[0.8485, 1.1314]])
    """
    return _rms_norm(input, normalized_shape, weight, eps)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divides each channel by a power of the mean square of its neighbors:

        y = x / (k + alpha · mean(x²))^beta

    Args:
        input: (N, C, ...)
        size: the number of channels in the mean
        alpha: default 1e-4
        beta: default 0.75
        k: default 1.0

    Example:
        >>> F.local_response_norm(torch.ones(1, 4, 2), size=2).shape
        torch.Size([1, 4, 2])
    """
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
    """Looks up rows of a table by integers:

        y[i] = weight[input[i]]

    Args:
        input: int32 or int64 of any shape
        weight: (rows, width)
        padding_idx: a row that gets no gradient; default None
        max_norm: rows with a greater norm are scaled down to it in `weight` itself; default None
        norm_type: the power of that norm; default 2.0
        scale_grad_by_freq: whether the gradient of a row is divided by the number of its look-ups; default
            False
        sparse: whether the gradient is a sparse tensor; default False

    Returns:
        (*input.shape, width)

    Raises:
        AssertionError: `padding_idx` is outside of the table

    Example:
        >>> F.embedding(torch.tensor([1, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[3., 4.],
                [1., 2.]])
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
    """Computes the sum, mean or maximum of rows of a table for each bag of integers.

    Args:
        input: (bags, n), or one dimension with `offsets`
        weight: (rows, width)
        offsets: where bags begin in an input of one dimension; default None
        max_norm: rows with a greater norm are scaled down to it in `weight` itself; default None
        norm_type: the power of that norm; default 2
        scale_grad_by_freq: whether the gradient of a row is divided by the number of its look-ups; default
            False
        mode: 'mean' (default), 'sum' or 'max'
        sparse: whether the gradient is a sparse tensor; default False
        per_sample_weights: a factor for each row, with mode 'sum'; default None
        include_last_offset: whether the last offset is the end of the last bag; default False
        padding_idx: a row that is left out; default None

    Raises:
        ValueError: the offsets do not fit the input

    Example:
        >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> F.embedding_bag(torch.tensor([[0, 1]]), table, mode="sum")
        tensor([[4., 6.]])
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
    """Divides by the norm along a dimension:

        y = x / max(‖x‖ₚ, eps)

    Args:
        input: any shape
        p: the power of the norm; default 2.0
        dim: a dimension or several; default 1
        eps: the least divisor; default 1e-12
        out: a tensor that receives the result; default None

    Example:
        >>> F.normalize(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    result = input / _functional.norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)


__getattr__ = _lacking(__name__)
