"""Functions of before autocast took a device type."""

from __future__ import annotations

from typing import Any

from torch_py import _C

__all__ = [
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
]


# Devices that PyTorch has automatic dtypes for and that do not exist here: programs ask for each whether it
# is on.
_ELSEWHERE = frozenset(("hpu", "ipu", "maia", "mps", "mtia", "xla", "xpu"))


def is_autocast_enabled(*device_type: str) -> bool:
    """Whether operators choose their dtypes on devices of this type ("cuda" when not given); False where
    there are no such devices.

    Raises RuntimeError for an unknown type.
    """
    if device_type and device_type[0] in _ELSEWHERE:
        return False
    return _C.is_autocast_enabled(*device_type)


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
