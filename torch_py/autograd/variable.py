"""`torch.autograd.variable.Variable`: a name that old programs use for Tensor."""

from torch_py.autograd import _variable as Variable

__all__ = ["Variable"]
