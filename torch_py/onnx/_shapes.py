"""ONNX nodes for operators that move elements: views, joins, splits, slices and padding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._registry import rule
from torch_py.onnx._sizes import Varying
from torch_py.onnx._types import onnx_dtype

END = 2**63 - 1  # the end of a dimension of any size


def reshape(g: Graph, value: Operand | str, shape: Sequence[Any], before: Sequence[Any] = ()) -> str:
    """Reshapes `value` to `shape`.

    Varying sizes that it had `before` in the same place are written as 0, and the first other one as -1.
    """
    if 0 in shape:
        return str(g.op("Reshape", value, g.sizes(list(shape)), allowzero=1 if g.opset >= 14 else None))

    sizes: list[Any] = []
    for axis, size in enumerate(shape):
        if isinstance(size, Varying) and axis < len(before) and before[axis] == size:
            sizes.append(0)
        elif isinstance(size, Varying) and -1 not in sizes:
            sizes.append(-1)
        else:
            sizes.append(size)
    return str(g.op("Reshape", value, g.sizes(sizes)))


@rule("view", "squeeze", "unsqueeze")
def to_shape(g: Graph, n: Node) -> Any:
    own = n["self"]
    if "dtype" in n.arguments:
        raise n.unsupported("cannot be exported with dtype, which reinterprets memory")
    if n.name == "unsqueeze":
        return g.op("Unsqueeze", own, g.constant([n.dim(rank=own.rank + 1)]))
    if n.name == "squeeze":
        kept = list(n.result.shape)
        axes = _squeezed(n, own, kept)
        return g.op("Squeeze", own, g.constant(axes)) if axes else g.op("Identity", own)
    return reshape(g, own, n.result.shape, own.shape)


def _squeezed(n: Node, own: Operand, kept: list[Any]) -> list[int]:
    """The dimensions of size 1 to remove."""
    dim = n.get("dim")
    if dim is None:
        asked = list(range(own.rank))
    else:
        asked = [d % max(own.rank, 1) for d in (dim if isinstance(dim, (list, tuple)) else [dim])]
    return [axis for axis in asked if axis < own.rank and own.shape[axis] == 1]


def permuted(g: Graph, value: Operand | str, order: Sequence[int]) -> str:
    """`value` with its dimensions in the given order."""
    if list(order) == list(range(len(order))):
        return str(g.op("Identity", value))
    return str(g.op("Transpose", value, perm=list(order)))


@rule("permute")
def permute(g: Graph, n: Node) -> Any:
    own = n["self"]
    return permuted(g, own, [d % own.rank for d in n["dims"]])


@rule("transpose", "t")
def transpose(g: Graph, n: Node) -> Any:
    order = list(range(n["self"].rank))
    if n.name == "t":
        return permuted(g, n["self"], order[::-1])
    if order:
        one = n["dim0"]
        other = n["dim1"]
        order[one], order[other] = order[other], order[one]
    return permuted(g, n["self"], order)


def expanded(g: Graph, value: Operand, shape: Sequence[Any]) -> str:
    """`value` broadcast to `shape`; a size that it already has is not written."""
    if 0 in shape:
        return str(g.op("Cast", g.op("ConstantOfShape", g.sizes(list(shape))), to=onnx_dtype(value.dtype)))
    own = [1] * (len(shape) - value.rank) + list(value.shape)
    wanted = [1 if have == size else size for have, size in zip(own, shape)]
    return str(g.op("Expand", value, g.sizes(wanted)))


@rule("expand")
def expand(g: Graph, n: Node) -> Any:
    return expanded(g, n["self"], n.result.shape)


@rule("repeat")
def repeat(g: Graph, n: Node) -> Any:
    own = n["self"]
    counts = list(n["repeats"])
    source: Any = own
    if len(counts) != own.rank:
        source = g.op("Unsqueeze", own, g.constant(list(range(len(counts) - own.rank))))
    return g.op("Tile", source, g.sizes(counts)) if counts else g.op("Identity", own)


@rule("cat")
def cat(g: Graph, n: Node) -> Any:
    tensors = [t for t in n["tensors"] if t.shape != (0,)] or list(n["tensors"])
    dim = n.dim(rank=n.result.rank)
    return g.op("Concat", *(g.cast(t, n.result.dtype) for t in tensors), axis=dim)


def sliced(g: Graph, value: Operand | str, axis: int, start: Any, stop: Any, step: int = 1) -> str:
    """``value[start:stop:step]`` along one dimension."""
    return str(
        g.op("Slice", value, g.sizes([start]), g.sizes([stop]), g.constant([axis]), g.constant([step]))
    )


@rule("split", "split_with_sizes")
def split(g: Graph, n: Node) -> Any:
    own = n["self"]
    parts = [r for r in n.results if r is not None]
    dim = n.dim()
    if len(parts) == 1:
        return (g.op("Identity", own),)

    sizes = [part.shape[dim] for part in parts]
    return g.op("Split", own, g.sizes(sizes), outputs=len(parts), axis=dim)


@rule("slice")
def slice_of(g: Graph, n: Node) -> Any:
    start = 0 if n["start"] is None else n["start"]
    end = END if n["end"] is None else n["end"]
    if start == 0 and end == END and n["step"] == 1:
        return g.op("Identity", n["self"])
    return sliced(g, n["self"], n.dim(), start, end, n.number("step"))


@rule("narrow.Tensor")
def narrow(g: Graph, n: Node) -> Any:
    places = g.op("Range", g.constant(0), g.op("Reshape", g.size(n["length"]), g.constant([])), g.constant(1))
    # Gather accepts negative positions.
    return g.op("Gather", n["self"], g.op("Add", g.size(n["start"]), places), axis=n.dim())


@rule("unbind")
def unbind(g: Graph, n: Node) -> Any:
    own = n["self"]
    dim = n.dim()
    if isinstance(own.shape[dim], Varying):
        raise n.unsupported("cannot be exported along a dynamic dimension")
    return tuple(g.op("Gather", own, g.constant(index), axis=dim) for index in range(own.shape[dim]))


@rule("select")
def select(g: Graph, n: Node) -> Any:
    return g.op("Gather", n["self"], _scalar(g, n["index"]), axis=n.dim())


def _scalar(g: Graph, index: Any) -> str:
    return g.cast(index, torch_py.int64)


@rule("flip")
def flip(g: Graph, n: Node) -> Any:
    own = n["self"]
    axes = [d % max(own.rank, 1) for d in n["dims"]]
    if not axes or not own.rank:
        return g.op("Identity", own)

    count = len(axes)
    return g.op(
        "Slice",
        own,
        g.constant([-1] * count),
        g.constant([-END] * count),
        g.constant(axes),
        g.constant([-1] * count),
    )


@rule("unfold")
def unfold(g: Graph, n: Node) -> Any:
    """Gathers the elements of all windows at once, by a table of their positions."""
    own = n["self"]
    if own.rank == 0:
        return g.op("Reshape", own, g.constant([1]))

    dim = n.dim("dimension")
    count = g.op("Reshape", g.size(n.result.shape[dim]), g.constant([]))
    windows = g.op("Range", g.constant(0), count, g.constant(1))
    starts = g.op("Mul", g.op("Unsqueeze", windows, g.constant([1])), g.constant(n.number("step")))
    places = g.op("Add", starts, g.constant(list(range(n.number("size")))))

    found = g.op("Gather", own, places, axis=dim)
    rest = [axis for axis in range(own.rank + 1) if axis != dim + 1]
    return permuted(g, found, [*rest, dim + 1])


@rule("roll")
def roll(g: Graph, n: Node) -> Any:
    own = n["self"]
    shifts = n["shifts"]
    dims = n["dims"]
    shifts, dims = ([v] if isinstance(v, (int, Varying)) else list(v) for v in (shifts, dims))
    value: Any = own
    sizes: list[Any] = list(own.shape)
    if not dims:
        value = g.op("Reshape", own, g.constant([-1]))
        dims = [0]
        sizes = [math.prod(sizes)] if all(isinstance(size, int) for size in sizes) else [None]

    for shift, dim in zip(shifts, dims):
        if isinstance(shift, Varying):
            raise n.unsupported("cannot be exported with shifts from a dynamic dimension")
        axis = dim % max(len(sizes), 1)
        if sizes and isinstance(sizes[axis], int):  # a shift in a dynamic dimension must not exceed the size
            shift = shift % sizes[axis] if sizes[axis] else 0
        if shift and sizes:
            value = g.op(
                "Concat", sliced(g, value, axis, -shift, END), sliced(g, value, axis, 0, -shift), axis=axis
            )

    if not n["dims"]:
        return reshape(g, value, n.result.shape)
    return value if value is not own else g.op("Identity", own)


@rule("tril", "triu")
def triangle(g: Graph, n: Node) -> Any:
    own = n["self"]
    is_bool = n["self"].dtype == torch_py.bool
    if g.opset < 14:
        raise n.unsupported("needs opset_version 14")
    source = g.cast(own, torch_py.int64) if is_bool else own
    result = g.op("Trilu", source, _scalar(g, n["diagonal"]), upper=int(n.name == "triu"))
    return g.to(result, torch_py.bool) if is_bool else result


@rule("pixel_shuffle")
def pixel_shuffle(g: Graph, n: Node) -> Any:
    own = n["self"]
    value = own.name if own.rank == 4 else reshape(g, own, [-1, *own.shape[-3:]])
    result = g.op("DepthToSpace", value, blocksize=n["upscale_factor"], mode="CRD")
    return result if own.rank == 4 else reshape(g, result, n.result.shape)


@rule("constant_pad_nd", "_pad_by_copy")
def pad(g: Graph, n: Node) -> Any:
    own = n["self"]
    amounts = list(n["pad"])
    mode = {"replicate": "edge", "circular": "wrap"}.get(n.get("mode"), n.get("mode", "constant"))

    if mode == "wrap" and g.opset < 19:
        return _wrapped(g, n, amounts)
    # Negative amounts leave elements out, after those of the other end were copied.
    copies = mode in ("reflect", "edge")
    left_out = [min(amount, 0) if copies and isinstance(amount, int) else 0 for amount in amounts]
    amounts = [amount if less == 0 else 0 for amount, less in zip(amounts, left_out)]

    missing = [0] * (own.rank - len(amounts) // 2)
    before = amounts[::2][::-1]
    after = amounts[1::2][::-1]

    # Pad does not accept bool.
    value = g.like(n.get("value") or 0, own) if mode == "constant" else None
    source = g.cast(own, torch_py.int32) if own.dtype == torch_py.bool else own
    value = g.constant(int(bool(n.get("value"))), torch_py.int32) if own.dtype == torch_py.bool else value
    result = g.op("Pad", source, g.sizes([*missing, *before, *missing, *after]), value, mode=mode)
    for position in range(0, len(amounts), 2):
        first, last = left_out[position : position + 2]
        if first or last:
            result = sliced(g, result, own.rank - 1 - position // 2, -first, last or END)
    return g.to(result, torch_py.bool) if own.dtype == torch_py.bool else result


def _wrapped(g: Graph, n: Node, amounts: list[Any]) -> str:
    """Circular padding before opset 19, where Pad lacks it: the ends of the tensor are joined to it."""
    value = n["self"].name
    rank = n["self"].rank
    for position in range(len(amounts) // 2):
        axis = rank - 1 - position
        before, after = amounts[2 * position : 2 * position + 2]
        if not all(isinstance(v, int) and v >= 0 for v in (before, after)):
            raise n.unsupported("can be exported as circular padding by numbers that are not negative only")
        parts = [sliced(g, value, axis, -before, END)] if before else []
        parts += [value, *([sliced(g, value, axis, 0, after)] if after else [])]
        value = g.op("Concat", *parts, axis=axis) if len(parts) > 1 else value
    return value
