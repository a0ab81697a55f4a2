"""Builds libraries of new operators from a YAML file: generates, compiles and imports them, without changes
to torch_py itself.

The file declares operators in the format of torch_py's own ``native_functions.yaml``, with the same result:
dispatch, autograd, Python bindings, and kernels for every instruction set. This needs a C++20 compiler and
the packages of the extra ``torch_py[operators]``.
"""

import importlib
from typing import Any

from ._build import build_operators, include_paths, library_paths
from ._foreign import (
    COMMON_HIP_FLAGS,
    CUDA_HOME,
    IS_HIP_EXTENSION,
    IS_WINDOWS,
    ROCM_HOME,
    BuildExtension,
    CppExtension,
    CUDAExtension,
    SyclExtension,
    is_ninja_available,
    load,
    load_inline,
    verify_ninja_availability,
)
from ._packages import load_backend, load_package

__all__ = [
    "COMMON_HIP_FLAGS",
    "CUDA_HOME",
    "IS_HIP_EXTENSION",
    "IS_WINDOWS",
    "ROCM_HOME",
    "BackendExtension",
    "BuildExtension",
    "BuildOperators",
    "CUDAExtension",
    "CppExtension",
    "OperatorExtension",
    "SyclExtension",
    "build_operators",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_backend",
    "load_inline",
    "load_package",
    "verify_ninja_availability",
]
from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> Any:
    # Imported on first use: programs that run operators need no setuptools.
    if name in ("BackendExtension", "BuildOperators", "OperatorExtension"):
        return getattr(importlib.import_module("._setuptools", __name__), name)
    return _absent(name)
