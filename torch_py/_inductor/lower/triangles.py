"""Triangles of matrices: tril and triu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.dtypes import LONG, TRUTH
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, Index, Map, const
from torch_py._inductor.lower.context import Lowering, Value, rule


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
