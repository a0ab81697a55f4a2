"""Collectives with gradients. `RemoteModule`, a module in another process, raises NotImplementedError."""

from __future__ import annotations

from torch_py.distributed._world import absent
from torch_py.distributed.nn import functional
from torch_py.distributed.nn.functional import *

__all__ = ["RemoteModule", "functional", *functional.__all__]

RemoteModule = absent("nn.RemoteModule")
