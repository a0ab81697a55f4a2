"""Views: turns the index of a view into an index of the tensor that it looks at.

There is one rule for all of them. A view of a tensor whose elements are one after another has strides that
say where in the row an element is, and the row position gives the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._inductor.formulas import NotLoweredError
from torch_py._inductor.indices import Linear, contiguous, flattened, unflattened
from torch_py._inductor.ir import Expr
from torch_py._inductor.lower.context import Lowering, Value


def lower_view(lowering: Lowering, node: Any, *args: Any, **kwargs: Any) -> Value | tuple[Value, ...]:
    """The rule of all operators that give views."""
    source, results = args[0], node.meta["val"]
    if _is_by_strides(node.target, source, results):
        raise NotLoweredError("a view by strides")

    row = _C._torch.empty_strided(source.sizes, contiguous(source.sizes), dtype=source.dtype, device="meta")
    views = node.target(row, *args[1:], **kwargs)
    if isinstance(results, (list, tuple)):
        return tuple(_view(source, view, example) for view, example in zip(views, results))
    return _view(source, views, results)


def _is_by_strides(operator: Any, source: Value, results: Any) -> bool:
    """Whether the call takes strides, or sees the same bytes as another dtype."""
    every = results if isinstance(results, (list, tuple)) else (results,)
    takes_strides = any(argument.name == "stride" for argument in operator._schema.arguments)
    return takes_strides or any(result.dtype != source.dtype for result in every)


def _view(source: Value, view: Any, example: Any) -> Value:
    strides, offset = view.stride(), view.storage_offset()

    def at(index: Sequence[Linear]) -> Expr:
        return source.at(unflattened(flattened(index, strides, offset), source.sizes))

    return Value(example.shape, example.dtype, example.device, at, source.root, example=example)
