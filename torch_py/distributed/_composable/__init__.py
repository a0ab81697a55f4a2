"""Functions that give a module the abilities of the wrappers, without wrapping it."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed._composable.fsdp import fully_shard

__all__ = ["fully_shard"]

__getattr__ = _lacking(__name__, __path__)
