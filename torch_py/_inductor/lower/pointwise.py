"""Pointwise operators and reductions, by the formulas of native_functions.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._inductor.dtypes import CPP, TRUTH, arithmetic_dtype
from torch_py._inductor.formulas import Formula, NotLoweredError
from torch_py._inductor.indices import Linear
from torch_py._inductor.ir import Expr, cast
from torch_py._inductor.lower.context import Example, Lowering, Value, bound_arguments
from torch_py._inductor.lower.entries import pointwise_entry, reduction_entry

# The word of a formula -> the kind of a Reduce.
KINDS = {
    "sum": "sum", "product": "product", "amax": "maximum", "amin": "minimum",
    "any": "any", "all": "all", "xor": "xor",
}  # fmt: skip


def lower_pointwise(lowering: Lowering, node: Any, *args: Any, **kwargs: Any) -> Value:
    """The rule of all pointwise operators with a formula."""
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


def lower_reduction(lowering: Lowering, node: Any, *args: Any, **kwargs: Any) -> Value:
    """The rule of all reductions with a formula."""
    operator = node.target
    promotion, tree = reduction_entry(operator._entry_name)
    bound = bound_arguments(operator, args, kwargs)
    source, result = bound["self"], node.meta["val"]
    if source.dtype not in CPP or result.dtype not in CPP:
        raise NotLoweredError(f"reduces {source.dtype}")

    reduced = reduced_dimensions(len(source.sizes), bound.get("dim"))
    computed = source.dtype if promotion == "bool" else result.dtype
    return reduction(lowering, node.name, result, source, reduced, tree, arithmetic_dtype(computed))


def reduced_dimensions(rank: int, dim: Any) -> list[int]:
    """The dimensions an operator is given, in order; None and an empty list mean all of them."""
    if dim is None or dim == []:
        return list(range(rank))
    given = [dim] if isinstance(dim, int) else dim
    return sorted(d % rank if rank else 0 for d in given) if rank else []


def reduction(
    lowering: Lowering,
    name: str,
    result: Any,
    source: Value,
    reduced: list[int],
    tree: Any,
    computed: Any,
) -> Value:
    """A formula with one reduction over dimensions of `source`, which the result may keep."""
    word, inner = _reduction_of(tree)
    kept = [d for d in range(len(source.sizes)) if d not in reduced]
    sizes = [source.sizes[d] for d in reduced]
    count = 1
    for size in sizes:
        count *= size
    accumulated = TRUTH if word in ("any", "all") else computed

    def element(outer: Sequence[Linear], axes: Sequence[Linear]) -> Expr:
        index: list[Any] = [None] * len(source.sizes)
        outer = list(outer) if len(outer) == len(kept) else [outer[d] for d in kept]
        for d, position in zip(kept, outer):
            index[d] = position
        for d, position in zip(reduced, axes):
            index[d] = position
        value = Formula({"self": source.at(index)}, computed).value(inner)
        return cast(value, accumulated)

    is_whole = tree[0] == word
    is_all = is_whole and result.dtype == accumulated
    shape = result if is_all else _with_dtype(result, accumulated)
    stem = name if is_all else f"{name}_{word}"
    total = lowering.reduce(stem, shape, KINDS[word], sizes, element, accumulated)
    if is_all:
        return total

    rest = _with_total(tree, word)

    def finished(index: Sequence[Linear]) -> Expr:
        values = {"total": total.at(index), "count": count}
        return cast(Formula(values, accumulated).value(rest), result.dtype)

    return lowering.define(name, result, finished)


def _reduction_of(tree: Any) -> tuple[str, Any]:
    """The word and the operand of the reduction in a formula."""
    if isinstance(tree, tuple):
        if tree[0] in KINDS:
            return tree[0], tree[1]
        for part in tree[1:]:
            found = _reduction_of(part)
            if found[0]:
                return found
    return "", None


def _with_total(tree: Any, word: str) -> Any:
    if not isinstance(tree, tuple):
        return tree
    return "total" if tree[0] == word else (tree[0], *(_with_total(part, word) for part in tree[1:]))


def _with_dtype(result: Any, dtype: Any) -> Any:
    return Example(result.shape, dtype, result.device)
