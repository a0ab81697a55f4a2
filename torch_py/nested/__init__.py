"""Nested tensors, which torch_py does not have."""

from torch_py._absent_package import absent_names

__getattr__ = absent_names(__name__, "torch_py has no nested tensors; pad, or keep a list of tensors")
