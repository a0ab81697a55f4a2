"""Functions of before autocast took a device type."""

from __future__ import annotations

from typing import Any

from torch_py import _C

__all__ = [
    "get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "is_autocast_cpu_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
]  # fmt: skip


def is_autocast_cpu_enabled() -> bool:
    return _C.is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    _C.set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> Any:
    return _C.get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    _C.set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Any:
    return _C.get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    _C.set_autocast_dtype("cuda", dtype)
