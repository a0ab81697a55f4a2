"""What a tensor becomes when a view of it is written to: views, backwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._functorch.aot.nodes import Builder
from torch_py._functorch.aot.recipes import Step
from torch_py._functorch.aot.views import Views
from torch_py._ops import ops
from torch_py.fx.node import Node

aten: Any = ops.aten

Inverse = Callable[[Builder, Step, Node, Node], Node]
_INVERSES: dict[str, Inverse] = {}


def has_inverse(step: Step) -> bool:
    """Whether `written_back` has a rule for a view; `written_by_strides` serves all of them."""
    return step.target._opname in _INVERSES


def written_back(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    """The value of `base` after its view by `step` has got the value `view`."""
    inverse = _INVERSES[step.target._opname]
    return builder.with_strides_of(inverse(builder, step, base, view), base.meta["val"])


def written_by_strides(builder: Builder, base: Node, view: Node, like: Any, offset: int) -> Node:
    """The value of `base`, which has no gaps, after its view with the strides of `like` and an offset in its
    memory has got the value `view`."""
    value = base.meta["val"]
    is_all = offset == 0 and like.numel() == value.numel()
    if is_all and like.is_contiguous() and value.is_contiguous() and view.meta["val"].is_contiguous():
        return builder.call(aten.view.default, view, list(value.shape))

    # Only operators that write one value to all elements accept repeated elements: any of these will do.
    shape = list(like.shape)
    for dim, step in enumerate(like.stride()):
        if step == 0 and shape[dim] > 1:
            view = builder.call(aten.slice.Tensor, view, dim, 0, 1)
            shape[dim] = 1
    distance = offset - value.storage_offset()
    if distance and Views().of(base).root.op == "placeholder":
        # Arguments of other calls begin elsewhere in their memory. This copy, gaps included, begins its own.
        base, offset = builder.call(aten.slice_scatter.default, base, base), distance
    start = offset if distance else None
    written = builder.call(aten.as_strided_scatter.default, base, view, shape, list(like.stride()), start)
    return builder.with_strides_of(written, base.meta["val"])


def _inverse_of(*names: str) -> Callable[[Inverse], Inverse]:
    def register(function: Inverse) -> Inverse:
        _INVERSES.update(dict.fromkeys(names, function))
        return function

    return register


# Views that contain every element once
# ------------------------------------------------------------


@_inverse_of("view", "squeeze", "unsqueeze")
def _reshaped(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    if step.target is aten.view.dtype:
        return builder.call(aten.view.dtype, view, base.meta["val"].dtype)
    return builder.call(aten.view.default, view, list(base.meta["val"].shape))


@_inverse_of("transpose", "t", "swapaxes")
def _transposed(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    return builder.call(step.target, view, *step.args, **step.kwargs)


@_inverse_of("permute")
def _permuted(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    rank = len(base.meta["val"].shape)
    dims = [dim % rank for dim in step.args[0]]
    return builder.call(aten.permute.default, view, sorted(range(rank), key=dims.__getitem__))


@_inverse_of("view_as_real", "view_as_complex")
def _of_other_kind(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    is_real = step.target is aten.view_as_real.default
    return builder.call(aten.view_as_complex.default if is_real else aten.view_as_real.default, view)


# Views of a part
# ------------------------------------------------------------


@_inverse_of("slice", "select", "diagonal")
def _scattered(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    scatter = getattr(aten, f"{step.target._opname}_scatter").default
    return builder.call(scatter, base, view, *step.args, **step.kwargs)


@_inverse_of("_real_view", "_imag_view")
def _part_of_complex(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    parts = builder.call(aten.view_as_real.default, base)
    position = 0 if step.target._opname == "_real_view" else 1
    written = builder.call(aten.select_scatter.default, parts, view, -1, position)
    return builder.call(aten.view_as_complex.default, written)


@_inverse_of("unbind")
def _unbound(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    dim = step.args[0] if step.args else step.kwargs.get("dim", 0)
    return builder.call(aten.select_scatter.default, base, view, dim, step.index)


@_inverse_of("split", "split_with_sizes")
def _split(builder: Builder, step: Step, base: Node, view: Node) -> Node:
    lengths = step.args[0]
    dim = step.args[1] if len(step.args) > 1 else step.kwargs.get("dim", 0)
    index: Any = step.index
    start = lengths * index if isinstance(lengths, int) else sum(lengths[:index])
    length = view.meta["val"].shape[dim]
    return builder.call(aten.slice_scatter.default, base, view, dim, start, start + length)
