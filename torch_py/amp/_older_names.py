"""Autocast functions from before they took a device type."""

from __future__ import annotations

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


# Device types for which PyTorch has autocast and which do not exist here. Programs ask for each of them
# whether autocast is enabled.
_ELSEWHERE = frozenset(("hpu", "ipu", "maia", "mps", "mtia", "xla", "xpu"))


def is_autocast_enabled(*device_type: str) -> bool:
    """Whether autocast is enabled for a device type ("cuda" by default).

    It is False for device types that do not exist here.

    Raises RuntimeError for an unknown type.

    Args:
        device_type: the type of device; 'cuda' if it is not given

    Example:
        >>> torch.is_autocast_enabled("cpu")
        False
    """
    if device_type and device_type[0] in _ELSEWHERE:
        return False
    return _C.is_autocast_enabled(*device_type)


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is enabled on the CPU.

    Example:
        >>> torch.is_autocast_cpu_enabled()
        False
    """
    return _C.is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Enables or disables autocast on the CPU.

    Args:
        enabled: whether autocast is on

    Example:
        >>> torch.set_autocast_cpu_enabled(False)
    """
    _C.set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> _C.dtype:
    """The dtype of autocast on the CPU.

    Example:
        >>> torch.get_autocast_cpu_dtype()
        torch.bfloat16
    """
    return _C.get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: _C.dtype) -> None:
    """Sets the dtype of autocast on the CPU.

    Args:
        dtype: the dtype

    Example:
        >>> torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    _C.set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> _C.dtype:
    """The dtype of autocast on CUDA devices.

    Example:
        >>> torch.get_autocast_gpu_dtype()
        torch.float16
    """
    return _C.get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: _C.dtype) -> None:
    """Sets the dtype of autocast on CUDA devices.

    Args:
        dtype: the dtype

    Example:
        >>> torch.set_autocast_gpu_dtype(torch.float16)
    """
    _C.set_autocast_dtype("cuda", dtype)
