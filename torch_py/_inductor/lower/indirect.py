"""Elements whose positions are in a tensor: embedding, index_select, gather, and x[index].

A position is read by the loop that reads the element. A call before it checks that all of them are in range;
where one is not, it calls the operator, which raises the exception of eager mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.nodes import in_range
from torch_py._inductor.indices import Linear, Loaded
from torch_py._inductor.ir import LONG, TRUTH, Buffer, Const, Expr, Load, Map, cast
from torch_py._inductor.loops import Extern
from torch_py._inductor.lower.context import Elements, Given, Lowering, NotLoweredError, Value, rule

_INDICES = (_C.int64, _C.int32)
_LEAST_ELEMENTS = 4  # for each position; checking these takes a pass over them


def _positions(
    lowering: Lowering, node: Any, name: str, source: Value, dim: int, index: Value, read: int
) -> Callable[[Sequence[Linear]], Linear]:
    """The positions along a dimension that a tensor has, not negative, by its index.

    `read` is the number of elements that are read at them.
    """
    if index.dtype not in _INDICES or index.device.type != "cpu" or not source.sizes:
        raise NotLoweredError(f"positions of {index.dtype}")
    if read < _LEAST_ELEMENTS * math.prod(index.sizes):
        raise NotLoweredError("as many positions as elements")

    given = lowering.stored(index)
    checked = Buffer(lowering.name(f"{node.name}_positions"), *given.facts)
    arguments = (given, list(source.sizes), dim % len(source.sizes))
    check = Extern(checked.name, in_range(name), arguments, {}, checked, (), lowering.line)
    lowering.graph.statements.append(check)
    size = source.sizes[dim]

    def at(i: Sequence[Linear]) -> Linear:
        value: Expr = cast(Load(checked, i), LONG)
        if name == "index":
            is_negative = Map("<", [value, Const(0, LONG)], TRUTH)
            from_end = Map("+", [value, Const(size, LONG)], LONG)
            value = Map("where", [is_negative, from_end, value], LONG)
        return Linear(0, {Loaded(value, size): 1})

    return at


def _selected(lowering: Lowering, node: Any, name: str, source: Value, dim: int, index: Value) -> Elements:
    """The slices of `source` at the positions that a tensor has, whose dimensions take the place of one."""
    position = _positions(lowering, node, name, source, dim, index, node.meta["val"].numel())
    first = dim % len(source.sizes)
    end = first + len(index.sizes)
    return lambda i: source.at([*i[:first], position(i[first:end]), *i[end:]])


@rule("embedding")
def embedding(lowering: Lowering, node: Any, given: Given) -> Elements:
    return _selected(lowering, node, "embedding", given["weight"], 0, given["indices"])


@rule("index_select")
def index_select(lowering: Lowering, node: Any, given: Given) -> Elements:
    if len(given["index"].sizes) != 1:
        raise NotLoweredError("a single position")
    return _selected(lowering, node, "index_select", given["self"], given["dim"], given["index"])


@rule("index.Tensor")
def index(lowering: Lowering, node: Any, given: Given) -> Elements:
    indices = [(dim, value) for dim, value in enumerate(given["indices"]) if value is not None]
    if len(indices) != 1:
        raise NotLoweredError("positions along several dimensions")
    return _selected(lowering, node, "index", given["self"], *indices[0])


@rule("gather")
def gather(lowering: Lowering, node: Any, given: Given) -> Elements:
    source, index = given["self"], given["index"]
    position = _positions(lowering, node, "gather", source, given["dim"], index, math.prod(source.sizes))
    dim = given["dim"] % len(source.sizes)
    return lambda i: source.at([*i[:dim], position(i), *i[dim + 1 :]])
