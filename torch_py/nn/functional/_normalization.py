"""Normalization over batches, samples, groups of channels and neighbors, as functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch_py._C import _torch
from torch_py._functional import norm
from torch_py._tensor import Tensor
from torch_py.nn.functional._average_pooling import avg_pool2d
from torch_py.nn.functional._padding import pad

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]

_group_norm = _torch.group_norm
_batch_norm = _torch.batch_norm
_layer_norm = _torch.layer_norm
_instance_norm = _torch.instance_norm
_rms_norm = _torch.rms_norm


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
    padded = pad(squares, (0, 0, size // 2, (size - 1) // 2))
    means = avg_pool2d(padded, (size, 1), stride=1)

    return input / means.reshape(input.shape).mul(alpha).add(k).pow(beta)


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
    result = input / norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)
