"""The functions of `torch` that are not single operators, under the module they are also known by."""

from torch_py import _C
from torch_py._functional import *
from torch_py._functional import __all__ as _written

split = _C._torch.split
stft = _C._torch.stft

__all__ = sorted([*_written, "split", "stft"])
