"""Normalization: one node where ONNX has it, else arithmetic that is recorded in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py._tensor import Tensor
from torch_py.onnx._creation import filled
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._reductions import reduce
from torch_py.onnx._registry import decomposes, rule
from torch_py.onnx._sizes import Varying


@rule("batch_norm")
def batch_norm(g: Graph, n: Node) -> Any:
    """With the statistics of training; see `batch_norm_in_training` for the others."""
    own = n["input"]
    scale = _given_or(g, n["weight"], 1.0, [own.shape[1]], own)
    shift = _given_or(g, n["bias"], 0.0, [own.shape[1]], own)
    statistics = (n["running_mean"], n["running_var"])
    return g.op("BatchNormalization", own, scale, shift, *statistics, epsilon=float(n["eps"]))


@rule("layer_norm")
def layer_norm(g: Graph, n: Node) -> Any:
    own = n["input"]
    shape = list(n["normalized_shape"])
    weight = n["weight"]
    bias = n["bias"]
    if g.opset >= 17:
        scale = _given_or(g, weight, 1.0, shape, own)
        return g.op("LayerNormalization", own, scale, bias, axis=-len(shape), epsilon=float(n["eps"]))

    axes = list(range(own.rank - len(shape), own.rank))
    centred = g.op("Sub", own, reduce(g, "ReduceMean", own, axes, True))
    variance = reduce(g, "ReduceMean", g.op("Mul", centred, centred), axes, True)
    result = g.op("Div", centred, g.op("Sqrt", g.op("Add", variance, g.like(n["eps"], own))))
    result = result if weight is None else g.op("Mul", result, weight)
    return result if bias is None else g.op("Add", result, bias)


def _given_or(g: Graph, given: Operand | None, number: float, shape: list[Any], like: Operand) -> Any:
    """The scale or shift of a layer, which ONNX requires; layers without parameters have a number."""
    if given is not None:
        return given
    if any(isinstance(size, Varying) for size in shape):
        return filled(g, number, shape, like.dtype)
    return g.constant(torch.full(shape, number).tolist(), like.dtype)


# -- what ONNX lacks ------------------------------------------------------------


def _affine(value: Tensor, weight: Tensor | None, bias: Tensor | None) -> Any:
    """A scale and a shift for each channel."""
    shape = [-1] + [1] * (value.dim() - 2)
    scaled = value if weight is None else value * weight.reshape(shape)
    return scaled if bias is None else scaled + bias.reshape(shape)


def _normalized(value: Tensor, dims: Sequence[int], eps: float) -> tuple[Any, Any, Any, Any]:
    """(value - mean) / sqrt(variance + eps), the mean, one over the root, and the variance."""
    mean = value.mean(dims, keepdim=True)
    centred = value - mean
    variance = (centred * centred).mean(dims, keepdim=True)
    root = torch.sqrt(variance + eps)
    return centred / root, mean, 1 / root, variance


@decomposes("_batch_norm_train")
def batch_norm_train(input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Any:
    result, *statistics = _normalized(input, [0, *range(2, input.dim())], eps)
    return _affine(result, weight, bias), *(each.reshape(-1) for each in statistics)


@decomposes("batch_norm")
def batch_norm_in_training(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, eps: float, **others: Any
) -> Any:
    """With the statistics of the batch. The exported model does not update those of training."""
    if not training and others["running_mean"] is not None:
        return NotImplemented
    return batch_norm_train(input, weight, bias, eps)[0]


@decomposes("instance_norm")
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    use_input_stats: bool,
    eps: float,
    **others: Any,
) -> Any:
    if not use_input_stats:
        return torch.batch_norm(input=input, weight=weight, bias=bias, training=False, eps=eps, **others)
    return _affine(_normalized(input, list(range(2, input.dim())), eps)[0], weight, bias)


@decomposes("group_norm")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float, **others: Any
) -> Any:
    groups = input.reshape(input.shape[0], num_groups, -1)
    return _affine(_normalized(groups, [2], eps)[0].reshape(input.shape), weight, bias)


@decomposes("rms_norm")
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None) -> Any:
    dims = list(range(-len(normalized_shape), 0))
    square = (input * input).mean(dims, keepdim=True)
    result = input / torch.sqrt(square + (torch.finfo(input.dtype).eps if eps is None else eps))
    return result if weight is None else result * weight
