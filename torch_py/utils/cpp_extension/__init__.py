"""Operators of one's own: a YAML file is generated, compiled and imported, without touching torch_py's tree.

The file declares operators as torch_py's own ``native_functions.yaml`` does and gets the same: dispatch,
autograd, Python bindings, kernels for every instruction set. Needs a C++20 compiler and the packages of the
extra ``torch_py[operators]``.
"""

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

__all__ = [
    "COMMON_HIP_FLAGS",
    "CUDA_HOME",
    "IS_HIP_EXTENSION",
    "IS_WINDOWS",
    "ROCM_HOME",
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "SyclExtension",
    "build_operators",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]
