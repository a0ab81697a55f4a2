"""Fake tensors: tensors with a shape, a dtype and a device, and without memory.

`fake_tensor` has the mode, and what else programs use. Behind it, `tensor` is the class, `calls` are those
on the meta device, `converter` makes fake tensors of real ones, `devices` is the rule for the device of a
result, and `errors` are the exceptions.
"""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._subclasses.errors import (
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode

__all__ = [
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
]

__getattr__ = _lacking(__name__, __path__)
