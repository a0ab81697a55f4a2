"""Which module of torch a function or class is from, even if `torch_py.as_torch` has renamed it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch_py
from torch_py._libraries import library_named


def module_of(value: Any) -> str:
    """The module of a function or class: "torch_py.nn" for "torch.nn" where these are the same; "" if
    unknown."""
    name = getattr(value, "__module__", None)
    return own_name(name) if isinstance(name, str) else ""


def own_name(name: str) -> str:
    """Our name of a module that may go by its alias."""
    root, _, rest = name.partition(".")
    if root != "torch" or sys.modules.get("torch") is not torch_py:
        return name
    return f"torch_py.{rest}" if rest else "torch_py"


def is_of_torch(value: Any) -> bool:
    """Whether a function, class or module is part of this library, or of a package of operators."""
    name = own_name(value.__name__) if isinstance(value, ModuleType) else module_of(value)
    return name.partition(".")[0] == "torch_py" or library_named(name) is not None


def is_operator(callee: Any) -> bool:
    """Whether a function of C is an operator, of the tree or of a package."""
    # Other functions of the tree belong to their module.
    is_own = is_of_torch(callee) and getattr(callee, "__self__", callee) is None
    return is_own or library_named(module_of(callee)) is not None


def is_of_python(module: str) -> bool:
    """Whether a module comes with Python."""
    return module.partition(".")[0] in sys.stdlib_module_names
