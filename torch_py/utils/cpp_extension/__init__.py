"""Operators of one's own: a YAML file is generated, compiled and imported, without touching torch_py's tree.

The file declares operators as torch_py's own ``native_functions.yaml`` does and gets the same: dispatch, autograd, Python bindings,
kernels for every instruction set. Needs a C++20 compiler and the packages of the extra ``torch_py[operators]``.
"""

from ._build import build_operators, include_paths, library_paths

__all__ = ["build_operators", "include_paths", "library_paths"]
