"""Passes over graphs: shapes, splits, pictures, constants, and tools to write others."""

from __future__ import annotations

import importlib as _importlib
from typing import Any as _Any

from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__, __path__)
# Imported when they are first named.
_LAZY_MODULES = (
    "fake_tensor_prop",
    "graph_drawer",
    "graph_manipulation",
    "infra",
    "operator_support",
    "param_fetch",
    "shape_prop",
    "split_module",
    "split_utils",
    "tools_common",
    "utils",
)


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.fx.passes.{name}")
    return _absent(name)
