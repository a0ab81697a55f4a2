"""Checkpoints as folders of the file system.

A folder has the values in ``__0_0.distcp``, a file of `torch.save`, and their shapes in ``.metadata``. The
folders are read by torch_py only: PyTorch's have plans of several processes in them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch_py import serialization
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.distributed.checkpoint.storage import StorageReader, StorageWriter

__all__ = ["FileSystemReader", "FileSystemWriter"]

_FORMAT = "torch_py 1"
_VALUES = "__0_0.distcp"
_METADATA = ".metadata"


def _folder(path: Any, checkpoint_id: Any) -> Path:
    chosen = path if checkpoint_id is None else checkpoint_id
    if chosen is None:
        raise ValueError("torch.distributed.checkpoint: expected a path, as checkpoint_id or of the storage")
    return Path(os.fspath(chosen))


class FileSystemWriter(StorageWriter):
    """Writes to the folder `path`.

    Raises RuntimeError for a folder that has a checkpoint, unless `overwrite`. The other options of PyTorch
    concern threads and several files; they have no effect.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        **options: Any,
    ) -> None:
        self.path = path
        self.overwrite = overwrite

    def write(self, values: dict[str, Any], checkpoint_id: Any = None) -> None:
        """Writes the values first and their description last: a folder with one is complete."""
        folder = _folder(self.path, checkpoint_id)
        metadata = folder / _METADATA
        if metadata.exists() and not self.overwrite:
            raise RuntimeError(f"Checkpoint already exists and self.overwrite={self.overwrite}.")

        folder.mkdir(parents=True, exist_ok=True)
        metadata.unlink(missing_ok=True)
        serialization.save(values, folder / _VALUES)
        serialization.save(
            {"format": _FORMAT, "values": {name: _described(value) for name, value in values.items()}},
            metadata,
        )


class FileSystemReader(StorageReader):
    """Reads the folder `path`.

    Raises RuntimeError for a folder that has no complete checkpoint, or one of PyTorch.
    """

    def __init__(self, path: str | os.PathLike[str] | None, **options: Any) -> None:
        self.path = path

    def read_metadata(self, checkpoint_id: Any = None) -> dict[str, Any]:
        """The shape and dtype of each tensor, and the types of the other values, by name."""
        file = _folder(self.path, checkpoint_id) / _METADATA
        if not file.exists():
            raise RuntimeError(f"torch.distributed.checkpoint: {file.parent} has no complete checkpoint")
        try:
            found = serialization.load(file, weights_only=True)
        except Exception as error:
            raise RuntimeError(
                f"torch.distributed.checkpoint: {file} is damaged, or a checkpoint of PyTorch, which "
                "torch_py does not read; convert it with PyTorch's dcp_to_torch_save"
            ) from error
        return found["values"]  # type: ignore[no-any-return]

    def read(self, checkpoint_id: Any = None) -> dict[str, Any]:
        self.read_metadata(checkpoint_id)
        file = _folder(self.path, checkpoint_id) / _VALUES
        return serialization.load(file, weights_only=True)  # type: ignore[no-any-return]


def _described(value: Any) -> Any:
    return (tuple(value.shape), value.dtype) if isinstance(value, Tensor) else type(value).__name__


__getattr__ = _lacking(__name__)
