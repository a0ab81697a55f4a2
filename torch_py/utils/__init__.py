"""Helpers around training: data loading, building operator libraries."""

from __future__ import annotations

import importlib as _importlib
from typing import Any

_LAZY_MODULES = ("_pytree", "cpp_extension", "data", "hooks")


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.utils.{name}")
    raise AttributeError(f"module 'torch_py.utils' has no attribute {name!r}")
