"""ONNX nodes for operators that create tensors from sizes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py
from torch_py import _C
from torch_py.onnx._graph import Graph, Node
from torch_py.onnx._registry import rule
from torch_py.onnx._sizes import Varying, VaryingConstant
from torch_py.onnx._types import onnx_dtype


def filled(g: Graph, value: Any, shape: Sequence[Any], dtype: _C.dtype) -> str:
    """A tensor of the given shape with `value` everywhere."""
    return str(g.op("Expand", g.cast(value, dtype), g.sizes(list(shape))))


@rule("zeros", "new_zeros", "zeros_like")
@rule("empty", "new_empty", "empty_like", "empty_strided", "empty_permuted", "new_empty_strided")
def zeros(g: Graph, n: Node) -> Any:
    """Uninitialized memory is exported as zeros."""
    return filled(g, 0, n.result.shape, n.result.dtype)


@rule("ones", "new_ones", "ones_like")
def ones(g: Graph, n: Node) -> Any:
    return filled(g, 1, n.result.shape, n.result.dtype)


@rule("full", "new_full", "full_like")
def full(g: Graph, n: Node) -> Any:
    return filled(g, n["fill_value"], n.result.shape, n.result.dtype)


@rule("scalar_tensor")
def scalar_tensor(g: Graph, n: Node) -> Any:
    return g.cast(n["s"], n.result.dtype)


@rule("arange")
def arange(g: Graph, n: Node) -> Any:
    dtype = n.result.dtype
    return g.op(
        "Range", g.cast(n.get("start", 0), dtype), g.cast(n["end"], dtype), g.cast(n.get("step", 1), dtype)
    )


@rule("linspace")
def linspace(g: Graph, n: Node) -> Any:
    """start + i * (end - start) / (steps - 1)"""
    dtype = n.result.dtype
    steps = n["steps"]
    if not dtype.is_floating_point:
        raise n.unsupported("can be exported in floating point only")

    count = g.cast(steps, dtype)
    start = g.cast(n["start"], dtype)
    last = g.op("Max", g.op("Sub", count, g.constant(1, dtype)), g.constant(1, dtype))
    width = g.op("Div", g.op("Sub", g.cast(n["end"], dtype), start), last)
    return g.op(
        "Add", start, g.op("Mul", g.op("Range", g.constant(0, dtype), count, g.constant(1, dtype)), width)
    )


@rule("eye")
def eye(g: Graph, n: Node) -> Any:
    zeros = filled(g, 0, n.result.shape, torch_py.float32)
    return g.op("EyeLike", zeros, dtype=onnx_dtype(n.result.dtype))


@rule("rand", "rand_like", "randn", "randn_like")
def random_numbers(g: Graph, n: Node) -> Any:
    op_type = "RandomNormalLike" if n.name.startswith("randn") else "RandomUniformLike"
    return g.op(op_type, filled(g, 0, n.result.shape, n.result.dtype), dtype=onnx_dtype(n.result.dtype))


def outside(g: Graph, constant: VaryingConstant) -> str | None:
    """Writes a tensor of a dynamic size that was created without being recorded, if all its elements are the
    same or they are consecutive integers. Otherwise returns None."""
    tensors = constant.tensors
    shape = [
        Varying(sizes) if len(set(sizes)) > 1 else sizes[0] for sizes in zip(*(t.shape for t in tensors))
    ]
    dtype = tensors[0].dtype

    if len({t.dim() for t in tensors}) > 1 or any(t.numel() == 0 for t in tensors):
        return None

    first = tensors[0].reshape(-1)[0].item()
    if all(bool((t == first).all()) for t in tensors):
        return filled(g, first, shape, dtype)

    if len(shape) == 1 and dtype in (torch_py.int64, torch_py.int32):
        if all(t.tolist() == list(range(first, first + len(t))) for t in tensors):
            length = g.to(g.op("Reshape", g.size(shape[0]), g.constant([])), dtype)
            start = g.constant(first, dtype)
            return str(g.op("Range", start, g.op("Add", start, length), g.constant(1, dtype)))

    return None
