"""Transformations of whole models: fusion of layers, constant folding."""

from __future__ import annotations

import importlib as _importlib
from typing import Any as _Any

from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__, __path__)
# Imported when they are first named.
_LAZY_MODULES = ("_config", "const_fold", "optimization", "proxy_tensor", "symbolic_shapes")


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.fx.experimental.{name}")
    return _absent(name)
