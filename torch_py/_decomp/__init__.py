"""Decompositions: operators as programs of simpler ones.

A table maps an operator to a function that computes it with others, so that tracing the function records the
others. The tables are not written by hand. An operator that is composed of others in C++ decomposes into that
composition, and a pointwise operator whose entry is a formula decomposes into the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._decomp.compositions import compositions
from torch_py._decomp.formulas import Formula, formulas
from torch_py._ops import OpOverload, OpOverloadPacket
from torch_py.utils._pytree import tree_map_

__all__ = [
    "core_aten_decompositions",
    "decomposition_table",
    "get_decompositions",
    "meta_table",
    "pre_autograd_decomposition_table",
    "register_decomposition",
    "remove_decompositions",
]

Table = dict[Any, Callable[..., Any]]
global_decomposition_table: dict[str, Table] = {
    "post_autograd": {**compositions(), **formulas()},
    "pre_autograd": {},
    "meta": {},
}
decomposition_table = global_decomposition_table["post_autograd"]
pre_autograd_decomposition_table = global_decomposition_table["pre_autograd"]
meta_table = global_decomposition_table["meta"]


def register_decomposition(
    aten_op: Any, registry: Table | None = None, *, type: str = "post_autograd", unsafe: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function that computes `aten_op`, an operator or nested lists of them.

    Args:
        aten_op: ``torch.ops.aten.silu.default`` or, for all overloads, ``torch.ops.aten.silu``.
        registry: the table to add to; without it the one that `type` names.
        type: "post_autograd", "pre_autograd" or "meta".
        unsafe: accepted for PyTorch's sake.

    Raises RuntimeError if the table has one of the operator, and ValueError for an unknown `type`.
    """
    table = _table(type) if registry is None else registry

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def add(operator: Any) -> None:
            for overload in _overloads_of(operator):
                if overload in table:
                    raise RuntimeError(f"duplicate registrations for {overload}")
                table[overload] = function

        tree_map_(add, aten_op)
        return function

    return register


def _table(kind: str) -> Table:
    if kind not in global_decomposition_table:
        raise ValueError(f"type must be one of {sorted(global_decomposition_table)}, got {kind!r}")
    return global_decomposition_table[kind]


def _overloads_of(operator: Any) -> list[Any]:
    if isinstance(operator, OpOverloadPacket):
        return [getattr(operator, name) for name in operator.overloads()]
    if isinstance(operator, OpOverload) or callable(operator):
        return [operator]
    raise TypeError(f"expected an operator such as torch.ops.aten.add.Tensor, got {operator!r}")


def get_decompositions(aten_ops: Sequence[Any], type: str = "post_autograd") -> Table:
    """The decompositions of the given operators; those that the table lacks are left out.

    >>> table = get_decompositions([torch.ops.aten.silu])
    >>> torch.ops.aten.silu.default in table
    True

    An operator without overload stands for all of its overloads.
    """
    table = _table(type)
    wanted = [overload for operator in aten_ops for overload in _overloads_of(operator)]
    return {overload: table[overload] for overload in wanted if overload in table}


def remove_decompositions(decompositions: Table, aten_ops: Sequence[Any]) -> None:
    """Deletes the given operators from a table; those that it lacks are ignored."""
    for operator in aten_ops:
        for overload in _overloads_of(operator):
            decompositions.pop(overload, None)


def core_aten_decompositions() -> Table:
    """The decompositions that lead to operators which every compiler has to know.

    These are all compositions, and the formulas of derivatives. Functions of mathematics such as `sigmoid`
    stay as they are.
    """
    return {
        operator: function
        for operator, function in decomposition_table.items()
        if not isinstance(function, Formula) or function.is_derivative
    }
