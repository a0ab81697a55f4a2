"""Elements whose positions are in a tensor: embedding, index_select, gather, and x[index].

A position is read by the loop that reads the element. A call before it checks that all of them are in range;
where one is not, it calls the operator, which raises the exception of eager mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._inductor.dtypes import LONG, TRUTH
from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import Linear, loaded
from torch_py._inductor.ir import Buffer, Const, Expr, Map, cast
from torch_py._inductor.lower.context import Given, Lowering, Value, rule
from torch_py._inductor.positions import in_range
from torch_py._inductor.statements import Extern

_INDICES = (_C.int64, _C.int32)
_LEAST_ELEMENTS = 4  # for each position; checking these takes a pass over them


class _Positions:
    """Positions along a dimension of a tensor, as a rule is given them."""

    def __init__(
        self, lowering: Lowering, node: Any, name: str, source: Value, dim: int, index: Value
    ) -> None:
        if index.dtype not in _INDICES or index.device.type != "cpu" or not source.sizes:
            raise NotLoweredError(f"positions of {index.dtype}")

        self.dim = dim % len(source.sizes)
        self.size = source.sizes[self.dim]
        self._wraps = name == "index"
        given = lowering.stored(index)
        self._checked = Buffer(
            lowering.name(f"{node.name}_positions"), given.dtype, given.sizes, given.strides, given.device
        )
        arguments = (given, list(source.sizes), self.dim)
        check = Extern(self._checked.name, in_range(name), arguments, {}, self._checked, (), lowering.line)
        lowering.graph.statements.append(check)

    def at(self, index: Sequence[Linear]) -> Linear:
        """The position at an index, not negative."""
        value: Expr = cast(Value.of(self._checked).at(index), LONG)
        if self._wraps:
            is_negative = Map("<", [value, Const(0, LONG)], TRUTH)
            from_end = Map("+", [value, Const(self.size, LONG)], LONG)
            value = Map("where", [is_negative, from_end, value], LONG)
        return loaded(value, self.size)


def _selected(lowering: Lowering, node: Any, name: str, source: Value, dim: int, index: Value) -> Value:
    """The slices of `source` at the positions that a tensor has, whose dimensions take the place of one."""
    if node.meta["val"].numel() < _LEAST_ELEMENTS * math.prod(index.sizes):
        raise NotLoweredError("as many positions as elements")
    positions = _Positions(lowering, node, name, source, dim, index)
    first = positions.dim
    end = first + len(index.sizes)

    def element(i: Sequence[Linear]) -> Expr:
        return source.at([*i[:first], positions.at(i[first:end]), *i[end:]])

    return lowering.define(node.name, node.meta["val"], element)


@rule("embedding")
def embedding(lowering: Lowering, node: Any, given: Given) -> Value:
    return _selected(lowering, node, "embedding", given["weight"], 0, given["indices"])


@rule("index_select")
def index_select(lowering: Lowering, node: Any, given: Given) -> Value:
    if len(given["index"].sizes) != 1:
        raise NotLoweredError("a single position")
    return _selected(lowering, node, "index_select", given["self"], given["dim"], given["index"])


@rule("index.Tensor")
def index(lowering: Lowering, node: Any, given: Given) -> Value:
    indices = [(dim, value) for dim, value in enumerate(given["indices"]) if value is not None]
    if len(indices) != 1:
        raise NotLoweredError("positions along several dimensions")
    return _selected(lowering, node, "index", given["self"], *indices[0])


@rule("gather")
def gather(lowering: Lowering, node: Any, given: Given) -> Value:
    source, index = given["self"], given["index"]
    if math.prod(source.sizes) < _LEAST_ELEMENTS * math.prod(index.sizes):
        raise NotLoweredError("as many positions as elements")
    positions = _Positions(lowering, node, "gather", source, given["dim"], index)
    own = positions.dim
    return lowering.define(
        node.name, node.meta["val"], lambda i: source.at([*i[:own], positions.at(i), *i[own + 1 :]])
    )
