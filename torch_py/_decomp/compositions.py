"""Operators that are composed of others in C++: the composition itself, as a decomposition."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._dispatch_keys import DispatchKey, DispatchKeySet
from torch_py._ops import OpOverload, find_overload

_PYTHON = DispatchKeySet(DispatchKey.Python)


class Composition:
    """Runs the function in C++ that composes an operator of others; a dispatch mode sees the others."""

    def __init__(self, operator: OpOverload) -> None:
        self.operator = operator
        self.__name__ = self.__qualname__ = operator._opname
        self.__doc__ = f"The composition of {operator}."

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.operator.redispatch(_PYTHON, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<composition of {self.operator}>"


def compositions() -> dict[OpOverload, Composition]:
    """The composition of each operator that has one.

    Operators that allocate their results themselves, such as `clone`, do not: their parts are not calls.
    """
    operators = map(find_overload, _C._operator_schemas())
    return {
        operator: Composition(operator)
        for operator in operators
        if operator._structure == "composite" and operator.has_kernel_for_dispatch_key(DispatchKey.Python)
    }
