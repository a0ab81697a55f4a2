"""`torch.distributed.tensor` under its earlier name."""

from __future__ import annotations

from torch_py import _pytorch_names
from torch_py.distributed import tensor
from torch_py.distributed.tensor import *

__all__ = tensor.__all__

_pytorch_names.extend(__path__, __name__)  # noqa: F405  # not in __all__ of a module
