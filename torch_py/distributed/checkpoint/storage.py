"""Where checkpoints are written and read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["StorageReader", "StorageWriter"]


class StorageWriter(ABC):
    """Writes a flat state dict. Not PyTorch's interface, which is about plans of several processes."""

    @abstractmethod
    def write(self, values: dict[str, Any], checkpoint_id: Any = None) -> None:
        """Writes all values. A `checkpoint_id` takes the place of the path given before."""


class StorageReader(ABC):
    """Reads what the `StorageWriter` of the same kind wrote."""

    @abstractmethod
    def read(self, checkpoint_id: Any = None) -> dict[str, Any]:
        """All values by name."""


__getattr__ = _lacking(__name__)
