"""Utilities: data loading, checkpointing, operator libraries, TensorBoard, and helpers for other packages."""

from __future__ import annotations

import importlib as _importlib
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.utils._swapping import swap_tensors as swap_tensors

_LAZY_MODULES = (
    "_foreach_utils",
    "_pytree",
    "backend_registration",
    "checkpoint",
    "collect_env",
    "cpp_extension",
    "data",
    "deterministic",
    "dlpack",
    "hooks",
    "mkldnn",
    "tensorboard",
)


_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.utils.{name}")
    if name in ("generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"):
        return getattr(_importlib.import_module("torch_py.utils.backend_registration"), name)
    if name == "model_summary":
        return _importlib.import_module("torch_py.utils._model_summary").model_summary
    return _absent(name)
