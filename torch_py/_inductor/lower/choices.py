"""Choices between tensors: where, masked_fill, tril and triu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.dtypes import CPP, LONG, TRUTH, arithmetic_dtype
from torch_py._inductor.formulas import NotLoweredError, as_truth
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, Index, Map, cast, const
from torch_py._inductor.lower.context import Lowering, Value, rule


def operand(value: Any, index: Sequence[Linear], dtype: Any) -> Expr:
    """An element of a tensor, or a number."""
    if isinstance(value, Value):
        if value.dtype not in CPP:
            raise NotLoweredError(f"dtype {value.dtype}")
        return cast(value.broadcast(index), dtype)
    return const(value, dtype)


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(lowering: Lowering, node: Any, condition: Value, one: Any, other: Any) -> Value:
    return _choice(lowering, node, condition, one, other)


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(lowering: Lowering, node: Any, source: Value, mask: Value, value: Any) -> Value:
    return _choice(lowering, node, mask, value, source)


def _choice(lowering: Lowering, node: Any, condition: Value, one: Any, other: Any) -> Value:
    example = node.meta["val"]
    dtype = arithmetic_dtype(example.dtype)

    def element(index: Sequence[Linear]) -> Expr:
        test = as_truth(condition.broadcast(index))
        chosen = Map("where", [test, operand(one, index, dtype), operand(other, index, dtype)], dtype)
        return cast(chosen, example.dtype)

    return lowering.define(node.name, example, element)


@rule("tril")
def tril(lowering: Lowering, node: Any, source: Value, diagonal: int = 0) -> Value:
    return _triangle(lowering, node, source, "<=", diagonal)


@rule("triu")
def triu(lowering: Lowering, node: Any, source: Value, diagonal: int = 0) -> Value:
    return _triangle(lowering, node, source, ">=", diagonal)


def _triangle(lowering: Lowering, node: Any, source: Value, sign: str, diagonal: int) -> Value:
    example = node.meta["val"]

    def element(index: Sequence[Linear]) -> Expr:
        distance = Index(index[-1] - index[-2], LONG)
        test = Map(sign, [distance, const(diagonal, LONG)], TRUTH)
        return Map("where", [test, source.at(index), const(0, example.dtype)], example.dtype)

    return lowering.define(node.name, example, element)
