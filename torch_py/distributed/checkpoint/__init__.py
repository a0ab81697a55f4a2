"""Checkpoints of the whole world, which is one process here: `save` and `load` of nested state."""

from __future__ import annotations

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed.checkpoint.api import CheckpointException
from torch_py.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch_py.distributed.checkpoint.state_dict_loader import load, load_state_dict
from torch_py.distributed.checkpoint.state_dict_saver import async_save, save, save_state_dict
from torch_py.distributed.checkpoint.storage import StorageReader, StorageWriter

__all__ = [
    "CheckpointException",
    "FileSystemReader",
    "FileSystemWriter",
    "StorageReader",
    "StorageWriter",
    "async_save",
    "load",
    "load_state_dict",
    "save",
    "save_state_dict",
]

__getattr__ = _lacking(__name__, __path__)
