"""softmax and log_softmax, and their gradients: several passes over a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._inductor.dtypes import CPP, arithmetic_dtype
from torch_py._inductor.formulas import Formula, NotLoweredError
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, cast
from torch_py._inductor.lower.context import Example, Lowering, Value, rule

Elements = Callable[[Sequence[Linear]], Expr]


class Rows:
    """Tensors of one shape, and values of their rows along one dimension, computed in one dtype."""

    def __init__(self, lowering: Lowering, node: Any, like: Value, dims: Sequence[int]) -> None:
        if like.dtype not in CPP or not like.dtype.is_floating_point or not like.sizes:
            raise NotLoweredError(f"rows of {like.dtype}")
        self.lowering = lowering
        self.name = node.name
        self.sizes = like.sizes
        self.device = like.device
        self.dims = sorted(d % len(like.sizes) for d in dims)
        self.dtype = arithmetic_dtype(like.dtype)

    @property
    def count(self) -> int:
        """The number of elements of a row."""
        return math.prod([self.sizes[d] for d in self.dims])

    @property
    def row_sizes(self) -> list[int]:
        return [1 if d in self.dims else size for d, size in enumerate(self.sizes)]

    def formula(self, tree: Any, /, **values: Any) -> Elements:
        """A formula over tensors and numbers. Tensors broadcast."""

        def at(index: Sequence[Linear]) -> Expr:
            own = {n: v.broadcast(index) if isinstance(v, Value) else v for n, v in values.items()}
            return cast(Formula(own, self.dtype).value(tree), self.dtype)

        return at

    def reduced(self, name: str, kind: str, element: Elements) -> Value:
        """One value for each row: the combination of its elements."""

        def at(outer: Sequence[Linear], inner: Sequence[Linear]) -> Expr:
            index = list(outer)
            for d, position in zip(self.dims, inner):
                index[d] = position
            return element(index)

        example = Example(self.row_sizes, self.dtype, self.device)
        sizes = [self.sizes[d] for d in self.dims]
        return self.lowering.reduce(f"{self.name}_{name}", example, kind, sizes, at, self.dtype)

    def row(self, name: str, element: Elements) -> Value:
        """One value for each row, computed from others."""
        example = Example(self.row_sizes, self.dtype, self.device)
        return self.lowering.define(f"{self.name}_{name}", example, element)

    def elements(self, name: str, element: Elements) -> Value:
        """A tensor of the whole shape that belongs to no node."""
        example = Example(self.sizes, self.dtype, self.device)
        return self.lowering.define(f"{self.name}_{name}", example, element)

    def result(self, example: Any, element: Elements, name: str = "") -> Value:
        """A result of the node."""
        return self.lowering.define(
            name or self.name, example, lambda index: cast(element(index), example.dtype)
        )


@rule("_softmax")
def softmax(lowering: Lowering, node: Any, source: Value, dim: int, half_to_float: bool) -> Value:
    rows = Rows(lowering, node, source, [dim])
    largest = rows.reduced("max", "maximum", rows.formula("x", x=source))
    exps = rows.elements("exp", rows.formula(("exp", ("-", "x", "m")), x=source, m=largest))
    total = rows.reduced("sum", "sum", rows.formula("e", e=exps))
    scale = rows.row("scale", rows.formula(("/", 1, "s"), s=total))
    return rows.result(node.meta["val"], rows.formula(("*", "e", "c"), e=exps, c=scale))


@rule("_log_softmax")
def log_softmax(lowering: Lowering, node: Any, source: Value, dim: int, half_to_float: bool) -> Value:
    rows = Rows(lowering, node, source, [dim])
    largest = rows.reduced("max", "maximum", rows.formula("x", x=source))
    exps = rows.formula(("exp", ("-", "x", "m")), x=source, m=largest)
    total = rows.reduced("sum", "sum", exps)
    shift = rows.row("log", rows.formula(("log", "s"), s=total))
    tree = ("-", ("-", "x", "m"), "h")
    return rows.result(node.meta["val"], rows.formula(tree, x=source, m=largest, h=shift))


@rule("_softmax_backward_data")
def softmax_backward(
    lowering: Lowering, node: Any, grad: Value, output: Value, dim: int, input_dtype: Any
) -> Value:
    rows = Rows(lowering, node, output, [dim])
    return _gradient(rows, node, grad, output, ("*", "g", "y"), ("*", "y", ("-", "g", "s")))


@rule("_log_softmax_backward_data")
def log_softmax_backward(
    lowering: Lowering, node: Any, grad: Value, output: Value, dim: int, input_dtype: Any
) -> Value:
    rows = Rows(lowering, node, output, [dim])
    return _gradient(rows, node, grad, output, "g", ("-", "g", ("*", ("exp", "y"), "s")))


def _gradient(rows: Rows, node: Any, grad: Value, output: Value, summed: Any, result: Any) -> Value:
    """The formula `result` of the gradient g, the output y and the sum s of another formula over the row."""
    total = rows.reduced("sum", "sum", rows.formula(summed, g=grad, y=output))
    return rows.result(node.meta["val"], rows.formula(result, g=grad, y=output, s=total))
