"""Operators with a formula over rows of several passes, by the formulas of native_functions.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor.dtypes import TRUTH
from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import Linear, linear
from torch_py._inductor.ir import Expr
from torch_py._inductor.lower.context import Lowering, Value, bound_arguments
from torch_py._inductor.lower.entries import row_entry
from torch_py._inductor.lower.pointwise import KINDS, reduced_dimensions
from torch_py._inductor.lower.softmax import Rows


def lower_rows(lowering: Lowering, node: Any, *args: Any, **kwargs: Any) -> Value:
    """The rule of reductions, and of operators along dimensions, that read a row several times."""
    operator = node.target
    _, structure, reductions, finish = row_entry(operator._entry_name)
    bound = bound_arguments(operator, args, kwargs)
    result = node.meta["val"]

    is_reduced = structure == "reduction"
    like = _whole(bound, bound["self"].sizes if is_reduced else tuple(result.shape))
    dims = reduced_dimensions(len(like.sizes), bound.get("dim"))
    rows = Rows(lowering, node, like, dims)

    values: dict[str, Any] = {**bound, "count": rows.count}
    for name, word, elements in reductions:
        if KINDS[word] in ("any", "all"):
            raise NotLoweredError(f"{word} in {rows.dtype}, not in {TRUTH}")
        values[name] = rows.reduced(name, KINDS[word], rows.formula(elements, **values))

    element = rows.formula(finish, **values)
    if not is_reduced or bound.get("keepdim"):
        return rows.result(result, element)

    def without_dims(index: Sequence[Linear]) -> Expr:
        kept = iter(index)
        return element([linear(0) if d in dims else next(kept) for d in range(len(like.sizes))])

    return rows.result(result, without_dims)


def _whole(bound: dict[str, Any], sizes: Sequence[int]) -> Value:
    """A tensor of the shape in which the formula is computed; all must have one dtype."""
    tensors = [value for value in bound.values() if isinstance(value, Value)]
    for tensor in tensors:
        if tensor.sizes == tuple(sizes) and len({value.dtype for value in tensors}) == 1:
            return tensor
    raise NotLoweredError("tensors of several shapes or dtypes")
