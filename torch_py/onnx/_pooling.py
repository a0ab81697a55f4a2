"""ONNX nodes for pooling: the largest or the mean element of each window."""

from __future__ import annotations

import functools
import math
from typing import Any

from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._nn import per_dimension
from torch_py.onnx._reductions import reduce
from torch_py.onnx._registry import rule
from torch_py.onnx._shapes import permuted
from torch_py.onnx._sizes import Varying


def _with_batch(g: Graph, own: Operand, spatial: int) -> tuple[Any, Any]:
    """The input with a batch dimension, and a function that removes it from the output."""
    if own.rank == spatial + 1:
        return g.op("Unsqueeze", own, g.constant([0])), lambda value: g.op("Squeeze", value, g.constant([0]))
    return own, lambda value: value


@rule("max_pool1d", "max_pool2d", "max_pool3d", "_max_pool")
def max_pool(g: Graph, n: Node) -> Any:
    spatial = len(n["kernel_size"])
    source, finish = _with_batch(g, n["self"], spatial)
    kernel = list(n["kernel_size"])
    settings = {
        "kernel_shape": kernel,
        "strides": per_dimension(n["stride"], spatial) or kernel,
        "pads": per_dimension(n["padding"], spatial) * 2,
        "dilations": per_dimension(n["dilation"], spatial),
        "ceil_mode": int(n["ceil_mode"]),
    }
    return _with_indices(g, n, source, finish, settings, spatial)


def _with_indices(g: Graph, n: Node, source: Any, finish: Any, settings: dict[str, Any], spatial: int) -> Any:
    """Max pooling, with indices if the caller wants them.

    ONNX counts indices over the whole tensor, PyTorch over one channel.
    """
    if len(n.results) == 1:
        return finish(g.op("MaxPool", source, **settings))
    values, indices = g.op("MaxPool", source, outputs=2, **settings)

    sizes = [g.size(size) for size in n["self"].shape[-spatial:]]
    channel = functools.reduce(lambda product, size: g.op("Mul", product, size), sizes)
    return finish(values), finish(g.op("Mod", indices, channel))


@rule("_avg_pool")
def avg_pool(g: Graph, n: Node) -> Any:
    spatial = len(n["kernel_size"])
    divisor = n["divisor_override"]
    if divisor is not None and n["ceil_mode"]:
        raise n.unsupported("cannot be exported with divisor_override and ceil_mode=True")

    source, finish = _with_batch(g, n["self"], spatial)
    kernel = list(n["kernel_size"])
    if n["ceil_mode"] and g.opset < 19:
        raise n.unsupported("needs opset_version 19 for ceil_mode=True")

    result = g.op(
        "AveragePool",
        source,
        kernel_shape=kernel,
        strides=per_dimension(n["stride"], spatial) or kernel,
        pads=per_dimension(n["padding"], spatial) * 2,
        ceil_mode=int(n["ceil_mode"]) or None,
        count_include_pad=int(n["count_include_pad"] or divisor is not None),
    )
    if divisor is not None:  # the sums, divided by another number
        result = g.op("Mul", result, g.like(math.prod(kernel) / divisor, n["self"]))
    return finish(result)


@rule(*(f"adaptive_{kind}_pool{rank}d" for rank in (1, 2, 3) for kind in ("avg", "max")))
def adaptive_pool(g: Graph, n: Node) -> Any:
    """A reduction if the output size is 1; pooling over windows if the output size divides the input size.

    Otherwise along one dimension after the other, without indices.
    """
    own = n["self"]
    spatial = int(n.name[17])
    is_mean = "avg" in n.name
    before = own.shape[-spatial:]
    after = n.result.shape[-spatial:]
    axes = list(range(own.rank - spatial, own.rank))
    is_dynamic = any(isinstance(size, Varying) for size in (*before, *after))

    if all(size == 1 for size in after) and (is_dynamic or len(n.results) == 1):
        values = reduce(g, "ReduceMean" if is_mean else "ReduceMax", own, axes, True)
    elif before == after and len(n.results) == 1:
        values = g.op("Identity", own)
    elif 0 in after:
        raise n.unsupported("cannot be exported with output_size 0")
    elif is_dynamic:
        raise n.unsupported("can be exported for a dynamic dimension with output_size 1 only")
    elif any(not want or have % want for have, want in zip(before, after)):
        along = _mean_along if is_mean else _largest_along
        values = own.name
        for axis, have, want in zip(axes, before, after):
            values = along(g, values, own, axis, _windows(have, want))
    else:
        source, finish = _with_batch(g, own, spatial)
        kernel = [have // want for have, want in zip(before, after)]
        settings: dict[str, Any] = {"kernel_shape": kernel, "strides": kernel}
        if not is_mean:
            return _with_indices(g, n, source, finish, settings, spatial)
        values = finish(g.op("AveragePool", source, **settings))

    return values if len(n.results) == 1 else (values, None)


def _windows(have: Any, want: Any) -> list[range]:
    """The elements that each element of the output is made of."""
    return [range(i * have // want, -(-(i + 1) * have // want)) for i in range(want)]


def _mean_along(g: Graph, value: str, own: Operand, axis: int, windows: list[range]) -> str:
    """A product with a matrix that has the weight of each element in each window."""
    size: Any = own.shape[axis]
    weights = [[1 / len(window) if i in window else 0.0 for window in windows] for i in range(size)]
    order = list(range(own.rank))
    order[axis], order[-1] = order[-1], order[axis]
    product = g.op("MatMul", permuted(g, value, order), g.constant(weights, own.dtype))
    return permuted(g, product, order)


def _largest_along(g: Graph, value: str, own: Operand, axis: int, windows: list[range]) -> str:
    """Gathers the windows, filled up to the same length by elements that they already have."""
    length = max(map(len, windows))
    places = [[window[min(i, len(window) - 1)] for i in range(length)] for window in windows]
    gathered = g.op("Gather", value, g.constant(places), axis=axis)
    return reduce(g, "ReduceMax", gathered, [axis + 1], False)
