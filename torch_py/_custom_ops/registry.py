"""The operators that programs have declared, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NoReturn

from torch_py import _C
from torch_py._custom_ops.operator import CustomOperator
from torch_py._custom_ops.schema import Schema
from torch_py._tensor import Tensor

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


@cache
def _schemas() -> dict[str, str]:
    return dict(_C._operator_schemas())


class NativeOperator:
    """`torch.ops.aten.add`: one of torch_py's own operators with all its overloads; `.Tensor`, `.default`
    name one of them.

    An overload takes all arguments that the operator takes, and the arguments choose the overload.
    """

    def __init__(self, function: Any, name: str, overload: str | None = None) -> None:
        self._function = function
        self._opname = name
        self._overloadname = overload
        self.__name__ = name if overload is None else f"{name}.{overload}"
        self.__qualname__ = self.__name__
        self.__module__ = "torch.ops.aten"
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._function(*arguments, **keywords)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        kind = "OpOverloadPacket" if self._overloadname is None else "OpOverload"
        return f"<{kind}(op='aten.{self._opname}', overload={self._overloadname!r})>"

    def __getattr__(self, overload: str) -> NativeOperator:
        schema = self._opname if overload == "default" else f"{self._opname}.{overload}"
        if (
            overload.startswith("__")
            or self._overloadname is not None
            or (overload != "default" and schema not in _schemas() and self._opname not in _ABSENT)
        ):
            raise AttributeError(
                f"The underlying op of 'aten.{self._opname}' has no overload name '{overload}'"
            )
        made = self.__dict__[overload] = NativeOperator(self._function, self._opname, overload)
        return made

    def overloads(self) -> list[str]:
        """The names of the overloads; "default" is the unnamed one."""
        names = [name.partition(".") for name in _schemas()]
        return [overload or "default" for name, _, overload in names if name == self._opname]


# Libraries name these in tables of operators that they handle. They cannot be called here.
_ABSENT = (
    "_pin_memory",
    "_sparse_addmm",
    "_sparse_mm_reduce_impl",
    "_to_copy",
    "alias",
    "sym_size",
    "sym_stride",
    "sym_numel",
    "sym_storage_offset",
)


def _absent(name: str) -> Callable[..., NoReturn]:
    def missing(*arguments: object, **keywords: object) -> NoReturn:
        raise NotImplementedError(f"operator '{name}' is not part of this build of torch_py")

    missing.__name__ = missing.__qualname__ = name
    return missing


@cache
def _native(name: str) -> NativeOperator | None:
    for place in (_C._ops, _C._torch, _C._nn, _C._linalg, _C._special, _C._fft, Tensor):
        if hasattr(place, name):
            return NativeOperator(getattr(place, name), name)
    return NativeOperator(_absent(name), name) if name in _ABSENT else None


def lookup(namespace: str, name: str) -> Any:
    """The value of `torch.ops.namespace.name`. Raises AttributeError for an unknown operator."""
    found = _operators.get(f"{namespace}::{name}") or (_native(name) if namespace == "aten" else None)
    if found is None:
        raise AttributeError(f"'_OpNamespace' '{namespace}' object has no attribute '{name}'")
    return found
