"""Converts between checkpoints and files of `torch.save`."""

from __future__ import annotations

import os
from typing import Any

from torch_py import serialization
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed.checkpoint.filesystem import FileSystemReader
from torch_py.distributed.checkpoint.state_dict_saver import save

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: Any) -> None:
    """Writes a checkpoint as one file, whose dict has the names of the checkpoint's values."""
    serialization.save(FileSystemReader(dcp_checkpoint_dir).read(), torch_save_path)


def torch_save_to_dcp(torch_save_path: Any, dcp_checkpoint_dir: str | os.PathLike[str]) -> None:
    """Writes the dict in a file as a checkpoint."""
    save(serialization.load(torch_save_path, weights_only=True), checkpoint_id=dcp_checkpoint_dir)


__getattr__ = _lacking(__name__)
