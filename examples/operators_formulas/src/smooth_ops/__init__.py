"""Operators for torch_py."""

from torch_py.utils.cpp_extension import load_package

__all__ = load_package(__name__)
