"""Makes the tensors of samples; packages of operators use it too."""

from torch_py.testing.operators.make import Layout, Make

__all__ = ["Layout", "Make"]
