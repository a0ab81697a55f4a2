"""ONNX nodes that read and write elements by index: `x[...]`, `x[...] = v`, gather, scatter, embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py
from torch_py.onnx._graph import Graph, Node, Operand
from torch_py.onnx._registry import maps
from torch_py.onnx._shapes import END, expanded, permuted, reshape
from torch_py.onnx._sizes import Varying


def _is_mask(item: Any) -> bool:
    return isinstance(item, Operand) and item.dtype in (torch_py.bool, torch_py.uint8)


def _is_advanced(item: Any) -> bool:
    return isinstance(item, (Operand, list))


def _full_key(n: Node, rank: int) -> list[Any]:
    """The index with an entry for every dimension; entries that are None stay."""
    index = n["index"]
    key = list(index) if isinstance(index, tuple) else [index]
    if any(isinstance(item, bool) for item in key):
        raise n.unsupported("cannot be exported with True or False as an index")

    used = sum(
        item.rank if _is_mask(item) else 1 for item in key if item is not None and item is not Ellipsis
    )
    place = next((i for i, item in enumerate(key) if item is Ellipsis), len(key))
    return [
        *key[:place],
        *[slice(None)] * (rank - used),
        *(item for item in key[place:] if item is not Ellipsis),
    ]


@maps("__getitem__")
def getitem(g: Graph, n: Node) -> Any:
    """Slices first, in one node; then numbers, new dimensions, and finally tensors."""
    own = n["self"]
    key = _full_key(n, own.rank)
    if any(_is_mask(item) for item in key):
        return _masked(g, n, own, key)

    value = _sliced(g, own, key)
    numbers = [
        (axis, item)
        for axis, item in enumerate(k for k in key if k is not None)
        if isinstance(item, (int, Varying))
    ]
    if any(_is_advanced(item) for item in key):
        return _advanced(g, n, value, key)

    for axis, item in reversed(numbers):
        value = g.op("Gather", value, g.cast(item, torch_py.int64), axis=axis)

    left = [item for item in key if not isinstance(item, (int, Varying))]
    new = [position for position, item in enumerate(left) if item is None]
    if new:
        value = g.op("Unsqueeze", value, g.constant(new))

    return value if value != own.name else g.op("Identity", own)


def _sliced(g: Graph, own: Operand, key: Sequence[Any]) -> str:
    axes = []
    starts = []
    stops = []
    steps = []
    for axis, item in enumerate(k for k in key if k is not None):
        if isinstance(item, slice) and item != slice(None):
            axes.append(axis)
            starts.append(0 if item.start is None else item.start)
            stops.append(END if item.stop is None else item.stop)
            steps.append(1 if item.step is None else item.step)

    if not axes:
        return own.name
    return str(g.op("Slice", own, g.sizes(starts), g.sizes(stops), g.constant(axes), g.sizes(steps)))


def _index_tensor(g: Graph, item: Any) -> str:
    return g.constant(item) if isinstance(item, list) else g.cast(item, torch_py.int64)


def _advanced(g: Graph, n: Node, value: str, key: list[Any]) -> str:
    """One tensor becomes a Gather; several become a GatherND of their coordinates, broadcast together."""
    items = [item for item in key if item is not None]
    places = [axis for axis, item in enumerate(items) if not isinstance(item, slice)]
    if any(item is None for item in key):
        raise n.unsupported("cannot be exported with both tensors and None as indices")

    if len(places) == 1:
        return str(g.op("Gather", value, _index_tensor(g, items[places[0]]), axis=places[0]))

    # GatherND reads the first dimensions, and puts those of the indices in front.
    rest = [axis for axis in range(len(items)) if axis not in places]
    front = permuted(g, value, [*places, *rest])
    found = str(g.op("GatherND", front, _coordinates(g, [items[p] for p in places])))
    is_together = places == list(range(places[0], places[-1] + 1))
    if not is_together or places[0] == 0:
        return found

    # Indices in adjacent positions replace the dimensions that they index.
    index_rank = n.result.rank - len(rest)
    before = len([r for r in rest if r < places[0]])
    order = [
        *range(index_rank, index_rank + before),
        *range(index_rank),
        *range(index_rank + before, n.result.rank),
    ]
    return permuted(g, found, order)


def _coordinates(g: Graph, items: Sequence[Any]) -> str:
    """The indices, broadcast together and stacked along a new last dimension."""
    names = [_index_tensor(g, item) for item in items]
    total = names[0]
    for name in names[1:]:
        total = g.op("Add", total, name)
    shape = g.op("Shape", total)
    last = g.constant([-1])
    return str(
        g.op("Concat", *(g.op("Unsqueeze", g.op("Expand", name, shape), last) for name in names), axis=-1)
    )


def _masked(g: Graph, n: Node, own: Operand, key: list[Any]) -> str:
    """A mask over the first dimensions selects rows, in order."""
    mask = key[0]
    if (
        not _is_mask(mask)
        or any(item != slice(None) for item in key[1:] if not isinstance(item, Operand))
        or any(map(_is_advanced, key[1:]))
    ):
        raise n.unsupported("can be exported with one mask as the first index only")
    coordinates = g.op("Transpose", g.op("NonZero", g.cast(mask, torch_py.bool)), perm=[1, 0])
    return str(g.op("GatherND", own, coordinates))


@maps("masked_select")
def masked_select(g: Graph, n: Node) -> Any:
    own = n["self"]
    mask = n["mask"]
    shape = g.op("Shape", g.op("Or", mask, g.op("Equal", own, own)))
    return g.op(
        "Compress", g.op("Expand", own, shape), g.op("Reshape", g.op("Expand", mask, shape), g.constant([-1]))
    )


@maps("nonzero", "argwhere")
def nonzero(g: Graph, n: Node) -> Any:
    if n["self"].rank == 0:
        raise n.unsupported("cannot be exported for a tensor without dimensions")
    return g.op("Transpose", g.op("NonZero", n["self"]), perm=[1, 0])


@maps("__setitem__", "index_put")
def setitem(g: Graph, n: Node) -> Any:
    """Numbers the elements, applies the index to the numbers, and scatters the new values to the positions
    found. A single mask becomes a Where."""
    own = n["self"]
    value = n["value"] if n.name == "__setitem__" else n["values"]
    if n.name == "index_put":
        if n.get("accumulate"):
            raise n.unsupported("cannot be exported with accumulate=True")
        n.arguments["index"] = tuple(slice(None) if item is None else item for item in n["indices"])

    key = _full_key(n, own.rank)
    is_small = not isinstance(value, Operand) or value.rank == 0 or all(size == 1 for size in value.shape)

    if _is_mask(key[0]) and is_small and all(item == slice(None) for item in key[1:]):
        mask = key[0]
        raised = mask
        if own.rank > mask.rank:
            trailing = g.constant(list(range(mask.rank, own.rank)))
            raised = g.op("Unsqueeze", g.cast(mask, torch_py.bool), trailing)
        new = g.like(value, own)
        new = g.op("Reshape", new, g.constant([])) if isinstance(value, Operand) and value.rank else new
        return g.op("Where", raised, new, own)

    if any(item is None for item in key):
        raise n.unsupported("cannot be exported with None as an index")
    return _scattered(g, n, own, value)


def _scattered(g: Graph, n: Node, own: Operand, value: Any) -> str:
    # The numbers of the elements that the index selects.
    count = g.op("Size", own)
    numbers = g.op("Range", g.constant(0), count, g.constant(1))
    grid = Operand(g.op("Reshape", numbers, g.op("Shape", own)), own.shape, torch_py.int64)
    result = Operand("", (None,) * _selected_rank(n, own), torch_py.int64)  # type: ignore[arg-type]
    chosen = getitem(g, Node("__getitem__", {"self": grid, "index": n["index"]}, [result], n.module))

    spread = g.op("Expand", g.like(value, own), g.op("Shape", chosen))
    last = g.constant([-1])
    flat = g.op(
        "ScatterElements",
        g.op("Reshape", own, last),
        g.op("Reshape", chosen, last),
        g.op("Reshape", spread, last),
        axis=0,
    )

    return str(g.op("Reshape", flat, g.op("Shape", own)))


def _selected_rank(n: Node, own: Operand) -> int:
    key = _full_key(n, own.rank)
    tensors = [item for item in key if isinstance(item, Operand)]
    broadcast = max(
        (t.rank for t in tensors), default=1 if any(isinstance(item, list) for item in key) else 0
    )
    return sum(isinstance(item, slice) for item in key) + broadcast


@maps("copy", "fill", "zero")
def overwritten(g: Graph, n: Node) -> Any:
    own = n["self"]
    value = n.get("src", n.get("other", n.get("value", 0)))
    if isinstance(value, Operand) and value.shape == own.shape:
        return g.op("Identity", g.like(value, own))
    return g.op("Expand", g.like(value, own), g.sizes(list(own.shape)))


@maps("index_select")
def index_select(g: Graph, n: Node) -> Any:
    own = n["self"]
    index = n["index"]
    if own.rank == 0:
        return g.op("Identity", own)
    return g.op("Gather", own, index if index.rank else g.op("Reshape", index, g.constant([1])), axis=n.dim())


@maps("gather", "take_along_dim")
def gather(g: Graph, n: Node) -> Any:
    own = n["self"]
    index = n.get("index", n.get("indices"))
    if n["dim"] is None:
        raise n.unsupported("cannot be exported without dim")
    if own.rank == 0:
        return g.op("Identity", own)

    dim = n.dim()
    if n.name == "take_along_dim":
        common = [
            i if axis == dim else max(o, i, key=_extent)
            for axis, (o, i) in enumerate(zip(own.shape, index.shape))
        ]
        sizes = [o if axis == dim else c for axis, (o, c) in enumerate(zip(own.shape, common))]

        # Indices wrap around by the remainder, which GatherElements does not do.
        wrapped = g.op("Mod", expanded(g, index, common), g.sizes([own.shape[dim]]))
        return g.op("GatherElements", expanded(g, own, sizes), wrapped, axis=dim)

    return g.op("GatherElements", own, index, axis=dim)


def _extent(size: Any) -> int:
    return max(size.values) if isinstance(size, Varying) else int(size)


@maps("scatter", "scatter_add")
def scatter(g: Graph, n: Node) -> Any:
    own = n["self"]
    index = n["index"]
    source = n.get("src", n.get("value"))
    kinds = {None: None, "add": "add", "multiply": "mul"}
    kind = "add" if n.name == "scatter_add" else kinds[n.get("reduce")]
    if own.rank == 0:
        raise n.unsupported("cannot be exported for a tensor without dimensions")

    if isinstance(source, Operand) and source.shape != index.shape:
        source = Operand(
            g.op("Slice", source, g.constant([0] * index.rank), g.sizes(list(index.shape))),
            index.shape,
            source.dtype,
        )

    values = g.like(source, own)
    if not isinstance(source, Operand):
        values = g.op("Expand", values, g.sizes(list(index.shape)))
    if kind and g.opset < 16:
        raise n.unsupported("needs opset_version 16")
    return g.op("ScatterElements", own, index, values, axis=n.dim(), reduction=kind)


@maps("embedding")
def embedding(g: Graph, n: Node) -> Any:
    return g.op("Gather", n["weight"], n["indices"], axis=0)


@maps("one_hot")
def one_hot(g: Graph, n: Node) -> Any:
    depth = n["num_classes"]
    if depth == -1:
        raise n.unsupported("cannot be exported without num_classes")
    indices = n["self"] if n["self"].rank else g.op("Reshape", n["self"], g.constant([1]))
    result = g.op("OneHot", indices, g.size(depth), g.constant([0, 1]), axis=-1)
    return result if n["self"].rank else g.op("Squeeze", result, g.constant([0]))


@maps("diagonal")
def diagonal(g: Graph, n: Node) -> Any:
    """Gathers by the coordinates of the diagonal, after moving its two dimensions to the front."""
    own = n["self"]
    one = n["dim1"] % own.rank
    other = n["dim2"] % own.rank
    if n["offset"] != 0:
        raise n.unsupported(f"cannot be exported with offset={n['offset']}")

    length = g.op("Reshape", g.size(n.result.shape[-1]), g.constant([]))
    numbers = g.op("Range", g.constant(0), length, g.constant(1))
    coordinates = g.op("Tile", g.op("Unsqueeze", numbers, g.constant([1])), g.constant([1, 2]))

    rest = [axis for axis in range(own.rank) if axis not in (one, other)]
    found = g.op("GatherND", permuted(g, own, [one, other, *rest]), coordinates)
    return permuted(g, found, [*range(1, n.result.rank), 0])
