"""Copies, casts and filled tensors."""

from __future__ import annotations

from typing import Any

from torch_py._inductor.dtypes import LONG, is_short_float
from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import linear
from torch_py._inductor.ir import Expr, Index, Map, cast, const
from torch_py._inductor.lower.context import Given, Lowering, Value, rule

_LONG = 16  # elements; shorter dimensions stay in the cache


@rule("clone", "_to_copy")
def copy(lowering: Lowering, node: Any, given: Given) -> Value:
    source, example = given["self"], node.meta["val"]
    if _is_transposition(node.args[0].meta["val"], example):
        raise NotLoweredError("a transposition, for which the operator has better loops")

    def element(index: Any) -> Expr:
        # The program asks for the rounding of a cast, but not for rounding between operators.
        value = source.at(index)
        if is_short_float(value.dtype) and value.dtype != example.dtype:
            value = Map("rounded", [value], value.dtype)
        value = cast(value, example.dtype)
        is_wanted = is_short_float(example.dtype) and source.dtype != example.dtype
        return Map("rounded", [value], example.dtype) if is_wanted else value

    return lowering.define(node.name, example, element)


def _is_transposition(source: Any, result: Any) -> bool:
    """Whether neighbours in memory end up far apart."""
    steps = [(s, r) for size, s, r in zip(source.shape, source.stride(), result.stride()) if size >= _LONG]
    return any(s == 1 and r > 1 for s, r in steps) and any(s > 1 and r == 1 for s, r in steps)


@rule("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones")
def zeros_or_ones(lowering: Lowering, node: Any, given: Given) -> Value:
    number = "ones" in node.target._entry_name
    return _filled(lowering, node, number)


@rule("full", "full_like", "new_full", "scalar_tensor", "fill.Scalar")
def full(lowering: Lowering, node: Any, given: Given) -> Value:
    return _filled(lowering, node, given.get("fill_value", given.get("value", given.get("s"))))


def _filled(lowering: Lowering, node: Any, number: Any) -> Value:
    if not isinstance(number, (bool, int, float)):
        raise NotLoweredError(f"a tensor of {number}")
    example = node.meta["val"]
    return lowering.define(node.name, example, lambda index: const(number, example.dtype))


@rule("arange", "arange.start", "arange.start_step")
def arange(lowering: Lowering, node: Any, given: Given) -> Value:
    start, step = given.get("start", 0), given.get("step", 1)
    example = node.meta["val"]
    if not isinstance(start, int) or not isinstance(step, int) or example.dtype.is_floating_point:
        raise NotLoweredError("numbers with fractions")

    def element(index: Any) -> Expr:
        return cast(Index(index[0] * step + linear(start), LONG), example.dtype)

    return lowering.define(node.name, example, element)
