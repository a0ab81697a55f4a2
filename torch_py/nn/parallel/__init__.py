"""Modules on several devices: on none, a wrapper that runs the module itself."""

from __future__ import annotations

from torch_py.nn.parallel._wrappers import DataParallel, DistributedDataParallel, data_parallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
