"""`torch.accelerator` in a build without accelerators: questions
are answered, requests raise RuntimeError."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def current_accelerator(check_available: bool = False) -> None:
    """None: this build has no accelerator."""
    return None


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def _refuse(*arguments: Any, **keywords: Any) -> NoReturn:
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_idx = current_device_index = current_stream = get_memory_info = _refuse
set_device_idx = set_device_index = set_stream = synchronize = _refuse


def empty_cache() -> None:
    """Does nothing: no device memory is cached."""


def _zero(device_index: Any = None) -> int:
    return 0


max_memory_allocated = max_memory_reserved = memory_allocated = memory_reserved = _zero


def memory_stats(device_index: Any = None) -> OrderedDict[str, Any]:
    return OrderedDict()


reset_accumulated_memory_stats = reset_peak_memory_stats = lambda device_index=None: None


class device_index:
    """`with device_index(None):` has no effect; a number raises RuntimeError."""

    def __init__(self, device: int | None) -> None:
        self._device = device

    def __enter__(self) -> None:
        if self._device is not None:
            _refuse()

    def __exit__(self, *exception: object) -> None:
        pass


__getattr__ = _lacking(__name__)
