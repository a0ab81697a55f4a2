"""Pointwise operators, by the formulas of native_functions.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._inductor.dtypes import CPP, arithmetic_dtype
from torch_py._inductor.formulas import Formula, NotLoweredError
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, cast
from torch_py._inductor.lower.context import Lowering, Value
from torch_py._inductor.lower.entries import pointwise_entry
from torch_py._tensor import Tensor
from torch_py.fx.node import map_arg


def lower_pointwise(lowering: Lowering, node: Any, *args: Any, **kwargs: Any) -> Value:
    """The rule of all operators with a formula for one element."""
    operator = node.target
    promotion, tree = pointwise_entry(operator._entry_name)
    bound = operator._schema.bind(args, kwargs)
    result = node.meta["val"]
    computed = arithmetic_dtype(_compared_dtype(node) if promotion == "comparison" else result.dtype)
    if computed not in CPP:
        raise NotLoweredError(f"computes {computed}")

    def element(index: Sequence[Linear]) -> Expr:
        values = {n: v.broadcast(index) if isinstance(v, Value) else v for n, v in bound.items()}
        return cast(Formula(values, computed).value(tree), result.dtype)

    return lowering.define(node.name, result, element)


def _compared_dtype(node: Any) -> Any:
    """The common dtype of what a comparison is given. Other operators compute in the dtype of the result."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda argument: argument.meta["val"])
    given = node.target._schema.bind(args, kwargs).values()
    operands = [value for value in given if isinstance(value, (Tensor, bool, int, float))]
    if len(operands) > 2:
        raise NotLoweredError("more than two operands to compare")
    return _C.result_type(*operands) if len(operands) == 2 else operands[0].dtype
