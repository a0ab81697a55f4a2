"""Modules whose parameters are divided among processes. In a world of one process they are whole."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed.fsdp import _fully_shard, fully_sharded_data_parallel
from torch_py.distributed.fsdp._fully_shard import *
from torch_py.distributed.fsdp.fully_sharded_data_parallel import *

__all__ = [*_fully_shard.__all__, *fully_sharded_data_parallel.__all__]

__getattr__ = _lacking(__name__, __path__)  # noqa: F405  # not in __all__ of a module
