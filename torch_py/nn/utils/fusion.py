"""Fusion of a convolution or linear layer with the batch normalization after it, for evaluation."""

from __future__ import annotations

import copy
from typing import TypeVar

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn.modules.batchnorm import _NormBase
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

_Conv = TypeVar("_Conv", bound=Module)
_Linear = TypeVar("_Linear", bound=Linear)


def _factor_and_shift(
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    bn_weight: Tensor | None,
    bn_bias: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Returns the factor by which batch normalization with fixed statistics
    multiplies each output, and the bias it adds."""
    factor = _torch.rsqrt(var + eps)
    if bn_weight is not None:
        factor = factor * bn_weight
    shifted = (-mean if bias is None else bias - mean) * factor
    return factor, shifted if bn_bias is None else shifted + bn_bias


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Returns weight and bias of the convolution that equals a convolution followed by batch normalization.

    `transpose` is for transposed convolutions.

    Args:
        conv_w, conv_b: weight and bias of the convolution; the bias may be None
        bn_rm, bn_rv: running mean and variance
        bn_eps: the eps of the normalization
        bn_w, bn_b: its weight and bias, or None
        transpose: whether the convolution is transposed; default False

    Example:
        >>> weight, bias = nn.utils.fusion.fuse_conv_bn_weights(
        ...     torch.ones(1, 1, 1), None, torch.zeros(1), torch.tensor([4.0]), 0.0, None, None
        ... )
        >>> weight.flatten()
        tensor([0.5000])
    """
    factor, bias = _factor_and_shift(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * factor.reshape(shape + [1] * (conv_w.dim() - 2))

    learns = conv_w.requires_grad
    return Parameter(weight.to(conv_w.dtype), learns), Parameter(bias.to(conv_w.dtype), learns)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Returns weight and bias of the linear layer equal to a linear layer followed by batch normalization.

    Args:
        linear_w, linear_b: weight and bias of the layer; the bias may be None
        bn_rm, bn_rv: running mean and variance
        bn_eps: the eps of the normalization
        bn_w, bn_b: its weight and bias, or None

    Example:
        >>> weight, bias = nn.utils.fusion.fuse_linear_bn_weights(
        ...     torch.ones(1, 1), None, torch.zeros(1), torch.tensor([4.0]), 0.0, None, None
        ... )
        >>> weight
        Parameter containing:
        tensor([[0.5000]])
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_conv_bn_eval(conv: _Conv, bn: _NormBase, transpose: bool = False) -> _Conv:
    """Returns a copy of `conv` that includes `bn`.

    Raises AssertionError unless both are in evaluation mode and `bn` has running statistics.

    Args:
        conv: the convolution
        bn: the batch normalization behind it
        transpose: whether the convolution is transposed; default False

    Example:
        >>> nn.utils.fuse_conv_bn_eval(nn.Conv2d(3, 4, 1).eval(), nn.BatchNorm2d(4).eval())
        Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1))
    """
    mean, var = _fixed_statistics(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, mean, var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_eval(linear: _Linear, bn: _NormBase) -> _Linear:
    """Returns a copy of `linear` that includes `bn`.

    Raises AssertionError unless both are in evaluation mode and `bn` has running statistics and either one
    feature or as many as `linear` has outputs.

    Args:
        linear: the linear layer
        bn: the batch normalization behind it

    Example:
        >>> nn.utils.fuse_linear_bn_eval(nn.Linear(3, 4).eval(), nn.BatchNorm1d(4).eval())
        Linear(in_features=3, out_features=4, bias=True)
    """
    mean, var = _fixed_statistics(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got {linear.out_features} and {bn.num_features}"
        )

    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, mean, var, bn.eps, bn.weight, bn.bias
    )
    return fused


def _fixed_statistics(layer: Module, bn: _NormBase) -> tuple[Tensor, Tensor]:
    """Returns the running mean and variance of `bn`.

    Raises AssertionError in training mode and without running statistics.
    """
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError(
            "Fusion needs running statistics, but the batch normalization keeps none "
            "(track_running_stats=False)"
        )
    return bn.running_mean, bn.running_var
