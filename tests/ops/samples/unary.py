"""Tensors of all shapes and layouts, for operators of one tensor; packages of operators use them too."""

from torch_py.testing.operators.samples.unary import tensors, unary_samples

__all__ = ["tensors", "unary_samples"]
