"""Neural networks: modules that own parameters, layers, losses and initialization."""

from __future__ import annotations

import importlib as _importlib
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.modules import *
from torch_py.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_LAZY_MODULES = (
    "attention",
    "common_types",
    "functional",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
)


_absent = _lacking(__name__, __path__)  # noqa: F405  # not in __all__ of a module  # noqa: F405  # not in __all__ of a module


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.nn.{name}")
    if name == "DataParallel":
        return _importlib.import_module("torch_py.nn.parallel").DataParallel
    return _absent(name)
