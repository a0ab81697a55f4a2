"""Functions that give a module the abilities of the wrappers, without wrapping it."""

from __future__ import annotations

from torch_py import _pytorch_names
from torch_py.distributed._composable.fsdp import fully_shard

__all__ = ["fully_shard"]

_pytorch_names.extend(__path__, __name__)
