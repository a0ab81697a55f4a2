"""Tensors that stand for others while programs are traced. There is no tracer: no tensor is one of them."""

from torch_py._subclasses.fake_tensor import FakeTensor as FakeTensor
from torch_py._subclasses.fake_tensor import FakeTensorMode as FakeTensorMode
from torch_py._subclasses.fake_tensor import UnsupportedFakeTensorException as UnsupportedFakeTensorException
