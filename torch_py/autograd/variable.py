"""`torch.autograd.variable.Variable`, the name that old programs use for a tensor."""

from torch_py.autograd import _variable as Variable

__all__ = ["Variable"]
