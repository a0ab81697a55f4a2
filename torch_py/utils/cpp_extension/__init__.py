"""Builds libraries of new operators from a YAML file: generates, compiles and imports them, without changes
to torch_py itself.

The file declares operators in the format of torch_py's own ``native_functions.yaml``, with the same result:
dispatch, autograd, Python bindings, and kernels for every instruction set. This needs a C++20 compiler and
the packages of the extra ``torch_py[operators]``.
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
from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
