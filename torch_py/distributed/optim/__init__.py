"""Optimizers for several processes. In one process they do what the optimizer inside them does."""

from __future__ import annotations

from torch_py import _pytorch_names
from torch_py.distributed._world import absent
from torch_py.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer
from torch_py.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]

_pytorch_names.extend(__path__, __name__)

DistributedOptimizer = absent("optim.DistributedOptimizer")
