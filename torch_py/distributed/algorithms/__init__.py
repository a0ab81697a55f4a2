"""Algorithms for several processes, of which parts are useful in one."""

from __future__ import annotations

from torch_py import _pytorch_names
from torch_py.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

_pytorch_names.extend(__path__, __name__)
