"""Which module of torch a function or class is from, also where `torch_py.as_torch` has renamed it."""

from __future__ import annotations

import sys
from functools import cache
from types import BuiltinFunctionType, ModuleType
from typing import Any

import torch_py
from torch_py import _C


def module_of(value: Any) -> str:
    """The module of a function or class: "torch_py.nn" for "torch.nn" where these are the same; "" if
    unknown."""
    name = getattr(value, "__module__", None)
    return own_name(name) if isinstance(name, str) else ""


def own_name(name: str) -> str:
    """Our name of a module that may have its alias."""
    root, _, rest = name.partition(".")
    if root != "torch" or sys.modules.get("torch") is not torch_py:
        return name
    return f"torch_py.{rest}" if rest else "torch_py"


def is_of_torch(value: Any) -> bool:
    """Whether a function or class is part of this library."""
    return module_of(value).partition(".")[0] == "torch_py"


@cache
def operators() -> frozenset[Any]:
    """The functions of the native module that are operators."""
    spaces = [value for value in vars(_C).values() if isinstance(value, ModuleType)]
    return frozenset(
        value
        for space in spaces
        if own_name(space.__name__).startswith("torch_py._C._")
        for value in vars(space).values()
        if isinstance(value, BuiltinFunctionType)
    )
