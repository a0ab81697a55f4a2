"""Pointwise operators, by the formulas of native_functions.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._inductor.dtypes import CPP, arithmetic_dtype
from torch_py._inductor.formulas import Formula, NotLoweredError
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, cast
from torch_py._inductor.lower.context import Lowering, Value, bound_arguments
from torch_py._inductor.lower.entries import pointwise_entry


def lower_pointwise(lowering: Lowering, node: Any, *args: Any, **kwargs: Any) -> Value:
    """The rule of all operators with a formula for one element."""
    operator = node.target
    promotion, tree = pointwise_entry(operator._entry_name)
    bound = bound_arguments(operator, args, kwargs)
    result = node.meta["val"]
    computed = arithmetic_dtype(_computed_dtype(promotion, bound, result.dtype))
    if any(isinstance(v, Value) and v.dtype not in CPP for v in bound.values()) or computed not in CPP:
        raise NotLoweredError(f"computes {computed}")

    def element(index: Sequence[Linear]) -> Expr:
        values = {n: v.broadcast(index) if isinstance(v, Value) else v for n, v in bound.items()}
        return cast(Formula(values, computed).value(tree), result.dtype)

    return lowering.define(node.name, result, element)


def _computed_dtype(promotion: str, bound: dict[str, Any], result: Any) -> Any:
    """The common dtype of the operands. Except for comparisons, the result has it."""
    if promotion != "comparison":
        return result
    operands = [v for v in bound.values() if isinstance(v, (Value, bool, int, float))]
    common = as_operand(operands[0])
    if len(operands) == 1:
        return common.dtype
    if len(operands) > 2:
        raise NotLoweredError("more than two operands to compare")
    return _C.result_type(common, as_operand(operands[1]))


def as_operand(value: Any) -> Any:
    """What represents a value where its dtype matters: a small tensor of the same rank, or the number."""
    if not isinstance(value, Value):
        return value
    return _C._torch.empty([1] * len(value.sizes), dtype=value.dtype, device="meta")
