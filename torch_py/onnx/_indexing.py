"""ONNX nodes that read and write elements by index: `x[...]`, `x[...] = v`, gather, scatter, embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py
from torch_py import _C
from torch_py.onnx._elementwise import same
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._memory import WRITE_VIEW
from torch_py.onnx._reductions import reduce
from torch_py.onnx._registry import RULES, find, rule
from torch_py.onnx._shapes import permuted, reshape, to_shape


def _is_mask(item: Any) -> bool:
    return isinstance(item, Operand) and item.dtype in (torch_py.bool, torch_py.uint8)


@rule("index")
def index(g: Graph, n: Node) -> Any:
    own = n["self"]
    return _indexed(g, n, own.name, own.rank, list(n["indices"]))


def _indexed(g: Graph, n: Node, value: str, rank: int, indices: list[Operand | None]) -> str:
    """``value[indices]``: one tensor becomes a Gather; several become a GatherND of their coordinates,
    broadcast together; a mask stands for the coordinates where it is true."""
    items: list[Any] = []
    for item in indices:
        if _is_mask(item):
            assert item is not None
            found = g.op("NonZero", g.cast(item, torch_py.bool))
            items += [g.op("Gather", found, g.constant(axis), axis=0) for axis in range(item.rank)]
        else:
            items.append(None if item is None else g.cast(item, torch_py.int64))
    items += [None] * (rank - len(items))

    places = [axis for axis, item in enumerate(items) if item is not None]
    if len(places) == 1:
        return str(g.op("Gather", value, items[places[0]], axis=places[0]))

    # GatherND reads the first dimensions, and puts those of the indices in front.
    rest = [axis for axis in range(rank) if axis not in places]
    front = permuted(g, value, [*places, *rest])
    found = str(g.op("GatherND", front, _coordinates(g, [items[p] for p in places])))
    is_together = places == list(range(places[0], places[-1] + 1))
    if not is_together or places[0] == 0:
        return found

    # Indices in adjacent positions replace the dimensions that they index.
    index_rank = max(1 if _is_mask(item) else item.rank for item in indices if item is not None)
    before = len([r for r in rest if r < places[0]])
    order = [
        *range(index_rank, index_rank + before),
        *range(index_rank),
        *range(index_rank + before, index_rank + len(rest)),
    ]
    return permuted(g, found, order)


def _coordinates(g: Graph, names: Sequence[str]) -> str:
    """The indices, broadcast together and stacked along a new last dimension."""
    total = names[0]
    for name in names[1:]:
        total = g.op("Add", total, name)
    shape = g.op("Shape", total)
    last = g.constant([-1])
    return str(
        g.op("Concat", *(g.op("Unsqueeze", g.op("Expand", name, shape), last) for name in names), axis=-1)
    )


@rule("masked_select")
def masked_select(g: Graph, n: Node) -> Any:
    own = n["self"]
    mask = n["mask"]
    shape = g.op("Shape", g.op("Or", mask, g.op("Equal", own, own)))
    return g.op(
        "Compress", g.op("Expand", own, shape), g.op("Reshape", g.op("Expand", mask, shape), g.constant([-1]))
    )


@rule("nonzero", "argwhere")
def nonzero(g: Graph, n: Node) -> Any:
    if n["self"].rank == 0:
        raise n.unsupported("cannot be exported for a tensor without dimensions")
    return g.op("Transpose", g.op("NonZero", n["self"]), perm=[1, 0])


@rule("nonzero_numpy")
def nonzero_numpy(g: Graph, n: Node) -> Any:
    """One tensor of places for each dimension."""
    if n["self"].rank == 0:
        raise n.unsupported("cannot be exported for a tensor without dimensions")
    found = g.op("NonZero", n["self"])
    return tuple(g.op("Gather", found, g.constant(axis), axis=0) for axis in range(n["self"].rank))


@rule("index_put")
def index_put(g: Graph, n: Node) -> Any:
    """Numbers the elements, applies the index to the numbers, and scatters the new values to the positions
    found. A single mask becomes a Where."""
    own = n["self"]
    value = n["values"]
    indices = list(n["indices"])
    is_small = all(size == 1 for size in value.shape)

    if len(indices) == 1 and _is_mask(indices[0]) and is_small and not n["accumulate"]:
        mask = g.cast(indices[0], torch_py.bool)
        if own.rank > indices[0].rank:
            mask = g.op("Unsqueeze", mask, g.constant(list(range(indices[0].rank, own.rank))))
        new = g.like(value, own)
        new = g.op("Reshape", new, g.constant([])) if value.rank else new
        return g.choose(mask, new, own.name, own.dtype)

    chosen = _indexed(g, n, _numbers(g, own), own.rank, indices)
    return _scattered(g, n, own, chosen, value, bool(n["accumulate"]))


def _numbers(g: Graph, own: Operand) -> str:
    """The numbers of the elements, in the shape of the tensor."""
    numbers = g.op("Range", g.constant(0), g.op("Size", own), g.constant(1))
    return str(g.op("Reshape", numbers, g.op("Shape", own)))


def _scattered(g: Graph, n: Node, own: Operand, chosen: str, value: Operand, adds: bool = False) -> str:
    """`own` with the elements of the numbers `chosen` replaced by `value`."""
    if adds and g.opset < 16:
        raise n.unsupported("needs opset_version 16 for accumulate=True")
    is_bool = own.dtype == torch_py.bool  # onnxruntime does not add truth values
    source = g.cast(own, torch_py.int32) if is_bool and adds else own
    new = g.cast(value, torch_py.int32) if is_bool and adds else g.like(value, own)

    spread = g.op("Expand", new, g.op("Shape", chosen))
    last = g.constant([-1])
    flat = g.op(
        "ScatterElements",
        g.op("Reshape", source, last),
        g.op("Reshape", chosen, last),
        g.op("Reshape", spread, last),
        axis=0,
        reduction="add" if adds else None,
    )
    result = str(g.op("Reshape", flat, g.op("Shape", own)))
    return g.to(result, torch_py.bool) if is_bool and adds else result


@rule(WRITE_VIEW)
def write_view(g: Graph, n: Node) -> Any:
    """`self` with the elements of one of its views replaced by `value`."""
    own = n["self"]
    value = n["value"]
    overload, arguments, position, shapes = n["view"]
    name = overload.partition(".")[0].removesuffix("_")
    rule_of_view = find(RULES, name, overload)
    if rule_of_view in (to_shape, same):  # all elements, in their order
        return reshape(g, value, own.shape, value.shape)

    numbers = Operand(_numbers(g, own), own.shape, torch_py.int64)
    results: list[Operand | None] = [Operand("", tuple(shape), torch_py.int64) for shape in shapes]
    view = Node(name, overload, arguments | {"self": numbers}, results, n.origin)
    if rule_of_view is None:
        raise n.unsupported(f"cannot write through a view made by {name}")
    chosen = rule_of_view(g, view)
    return _scattered(g, n, own, chosen if isinstance(chosen, str) else chosen[position], value)


@rule("copy", "fill", "zero", overwrites=True)
def overwritten(g: Graph, n: Node) -> Any:
    own = n["self"]
    value = n.get("src", n.get("other", n.get("value", 0)))
    if isinstance(value, Operand) and value.shape == own.shape:
        return g.op("Identity", g.like(value, own))
    return g.op("Expand", g.like(value, own), g.sizes(list(own.shape)))


@rule("index_select")
def index_select(g: Graph, n: Node) -> Any:
    own = n["self"]
    index = n["index"]
    if own.rank == 0:
        return g.op("Identity", own)
    return g.op("Gather", own, index if index.rank else g.op("Reshape", index, g.constant([1])), axis=n.dim())


@rule("gather")
def gather(g: Graph, n: Node) -> Any:
    own = n["self"]
    if own.rank == 0:
        return g.op("Identity", own)
    return g.op("GatherElements", own, n["index"], axis=n.dim())


_REDUCTIONS = {"add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}


def _neutral(kind: str, dtype: _C.dtype) -> Any:
    """The number that changes nothing in a reduction."""
    if kind in ("amax", "amin"):
        info = torch_py.finfo(dtype) if dtype.is_floating_point else torch_py.iinfo(dtype)
        return info.min if kind == "amax" else info.max
    return 1 if kind == "prod" else 0


@rule("scatter", "scatter_add", "scatter_reduce")
def scatter(g: Graph, n: Node) -> Any:
    own = n["self"]
    index = n["index"]
    source = n.get("src", n.get("value"))
    kind = "add" if n.name == "scatter_add" else n.get("reduce")
    if kind == "mean":
        raise n.unsupported("cannot be exported with reduce='mean'")
    if kind and g.opset < (18 if kind in ("amax", "amin") else 16):
        raise n.unsupported("needs opset_version 18, or 16 for sums and products")

    if isinstance(source, Operand) and source.shape != index.shape:
        cut = g.op("Slice", source, g.constant([0] * index.rank), g.sizes(list(index.shape)))
        source = Operand(cut, index.shape, source.dtype)
    values = g.like(source, own)
    if not isinstance(source, Operand):
        values = g.op("Expand", values, g.sizes(list(index.shape)))

    reduction = _REDUCTIONS[kind] if kind else None
    if kind and own.dtype == torch_py.bool:
        raise n.unsupported(f"cannot be exported for torch.bool with reduce={kind!r}")
    if n.get("include_self") is False and own.rank:
        # The elements that are hit start as if they were not there.
        neutral = g.op("Expand", g.constant(_neutral(kind, own.dtype), own.dtype), g.sizes(list(index.shape)))
        own = Operand(g.op("ScatterElements", own, index, neutral, axis=n.dim()), own.shape, own.dtype)
    if own.rank:
        return g.op("ScatterElements", own, index, values, axis=n.dim(), reduction=reduction)
    if n.get("include_self") is False:
        return values
    row = [g.op("Reshape", value, g.constant([1])) for value in (own, index, values)]
    return g.op("Reshape", g.op("ScatterElements", *row, axis=0, reduction=reduction), g.constant([]))


@rule("embedding")
def embedding(g: Graph, n: Node) -> Any:
    return g.op("Gather", n["weight"], n["indices"], axis=0)


@rule("one_hot")
def one_hot(g: Graph, n: Node) -> Any:
    depth = n["num_classes"]
    indices = n["self"] if n["self"].rank else g.op("Reshape", n["self"], g.constant([1]))
    if depth == -1:  # one more than the largest index
        largest = reduce(g, "ReduceMax", indices, list(range(max(n["self"].rank, 1))), False)
        count = g.op("Add", largest, g.constant(1))
    else:
        count = g.size(depth)
    result = g.op("OneHot", indices, count, g.constant([0, 1]), axis=-1)
    return result if n["self"].rank else g.op("Squeeze", result, g.constant([0]))


@rule("diagonal")
def diagonal(g: Graph, n: Node) -> Any:
    """Gathers by the coordinates of the diagonal, after moving its two dimensions to the front."""
    own = n["self"]
    one = n["dim1"] % own.rank
    other = n["dim2"] % own.rank
    offset = n.number("offset")

    length = g.op("Reshape", g.size(n.result.shape[-1]), g.constant([]))
    numbers = g.op("Range", g.constant(0), length, g.constant(1))
    pairs = g.op("Unsqueeze", numbers, g.constant([1]))
    coordinates = g.op("Add", pairs, g.constant([[max(-offset, 0), max(offset, 0)]]))

    rest = [axis for axis in range(own.rank) if axis not in (one, other)]
    found = g.op("GatherND", permuted(g, own, [one, other, *rest]), coordinates)
    return permuted(g, found, [*range(1, n.result.rank), 0])


@rule("_unique", "_unique2", "unique_dim")
def unique(g: Graph, n: Node) -> Any:
    """The different elements or rows, where each element is among them, and how often each occurs."""
    own = n["self"]
    axis = n.dim() if n.name == "unique_dim" else None
    values, _, inverse, counts = g.op("Unique", own, outputs=4, axis=axis, sorted=1)
    places = inverse if axis is not None else g.op("Reshape", inverse, g.op("Shape", own))
    empty = g.constant([])
    wanted = [n.get("return_inverse", True), n.get("return_counts", True)]
    return values, *(name if asked else empty for name, asked in zip((places, counts), wanted))
