"""The operators that programs have declared, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch_py._custom_ops.operator import CustomOperator
from torch_py._custom_ops.schema import Schema

_operators: dict[str, CustomOperator] = {}


def declare(schema: Schema, function: Callable[..., Any] | None, *, replaces: bool = False) -> CustomOperator:
    """Declares a new operator.

    Raises RuntimeError if there is one of the same name, unless `replaces`, as when a module is loaded again.
    """
    namespace = schema.name.partition("::")[0]
    if namespace in ("aten", "prim", "prims"):
        raise NotImplementedError(
            f"torch.library: operators of torch_py come from native_functions.yaml; {schema.name!r} cannot "
            "be declared from Python"
        )
    if schema.name in _operators and not replaces:
        raise RuntimeError(
            f"Tried to register an operator ({schema.text}) with the same name and overload name multiple "
            f"times: it is declared as {_operators[schema.name]._schema.text}"
        )
    operator = _operators[schema.name] = CustomOperator(schema, function)
    return operator


def forget(names: Iterable[str]) -> None:
    """Takes back the declaration of these operators."""
    for name in names:
        _operators.pop(name, None)


def find(name: str) -> CustomOperator:
    """The operator `name`.

    Raises NotImplementedError for torch_py's own operators and RuntimeError for an unknown name.
    """
    found = _operators.get(name) or _operators.get(name.removesuffix(".default"))
    if found is not None:
        return found
    if name.startswith("aten::"):
        raise NotImplementedError(
            f"torch.library: kernels of torch_py's own operator {name!r} cannot be changed from Python"
        )
    raise RuntimeError(f"operator {name} does not exist")


def operator_of(op: Any) -> CustomOperator:
    """The operator for a name, or for an operator that `custom_op` or `torch.ops` returned."""
    if isinstance(op, CustomOperator):
        return op
    if isinstance(op, str):
        return find(op)
    raise ValueError(
        f"torch.library: expected the name of an operator or a custom operator, got {type(op).__name__}"
    )


def lookup(namespace: str, name: str) -> CustomOperator | None:
    """The operator `namespace::name`; None for an unknown one."""
    return _operators.get(f"{namespace}::{name}")
