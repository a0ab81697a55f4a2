"""The accelerator of this machine, whatever its kind: a CUDA device, or none."""

from __future__ import annotations

from typing import Any

from torch_py import _C, cuda
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


def current_accelerator(check_available: bool = False) -> Any:
    """The device type of the accelerator, as a torch.device without index; None without one."""
    kind = _kind()
    return None if kind is None else _C.device(kind)


def _kind() -> str | None:
    """CUDA where there is a GPU, else the devices of a package."""
    kinds = ("cuda", _C._get_privateuse1_backend_name())
    return next((kind for kind in kinds if _C._accelerator_count(kind) > 0), None)


def is_available() -> bool:
    """Whether there is an accelerator."""
    return _kind() is not None


def device_count() -> int:
    """The number of accelerators."""
    kind = _kind()
    return 0 if kind is None else int(_C._accelerator_count(kind))


def _check() -> str:
    """The type of the accelerator; RuntimeError without one."""
    kind = _kind()
    if kind is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return kind


def _index(device: Any) -> int:
    """The index that a device or a number names; the current one for None.

    Raises ValueError for devices of another type.
    """
    kind = _check()
    if isinstance(device, int):
        return current_device_index() if device < 0 else device
    if device is not None and _C.device(device).type != kind:
        raise ValueError(f"expected a device of the accelerator, {kind}, got {device}")
    if kind == "cuda":
        return cuda._get_device_index(device, optional=True)

    index = None if device is None else _C.device(device).index
    return current_device_index() if index is None else int(index)


def current_device_index() -> int:
    """The index of the current device."""
    return int(_C._accelerator_index(_check()))


def set_device_index(device: Any) -> None:
    """Makes a device the current one of this thread."""
    index = _index(device)
    _C._accelerator_exchange(_C.device(_check(), index))


current_device_idx = current_device_index
set_device_idx = set_device_index


def current_stream(device: Any = None) -> Any:
    """The current stream of a device, a torch.Stream."""
    return _C.Stream(*_C._cuda_getCurrentStream(_index(device)))


def set_stream(stream: Any) -> None:
    """Makes a stream, and its device, the current ones of this thread."""
    _check()
    cuda.set_stream(stream)


def synchronize(device: Any = None) -> None:
    """Waits for all work of a device."""
    index = _index(device)
    _C._accelerator_synchronize(_C.device(_check(), index))


class device_index:
    """A block in which the device with an index is the current one; None has no effect."""

    def __init__(self, device: int | None) -> None:
        self._device = device
        self._before = -1

    def __enter__(self) -> None:
        if self._device is not None:
            self._before = int(_C._accelerator_exchange(_C.device(_check(), self._device)))

    def __exit__(self, *exception: object) -> None:
        if self._device is not None:
            _C._accelerator_exchange(_C.device(_check(), self._before))


def empty_cache() -> None:
    """Gives cached memory back to the driver; without accelerator there is nothing to do."""
    cuda.empty_cache()


def get_memory_info(device_index: Any = None) -> tuple[int, int]:
    """The free and the total bytes of a device."""
    return cuda.mem_get_info(_index(device_index))


def memory_stats(device_index: Any = None) -> dict[str, Any]:
    """See `torch.cuda.memory_stats`."""
    return cuda.memory_stats(device_index)


def memory_allocated(device_index: Any = None) -> int:
    """The bytes that tensors use."""
    return cuda.memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None) -> int:
    """The most bytes that tensors have used."""
    return cuda.max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None) -> int:
    """The bytes that the allocator has taken from the driver."""
    return cuda.memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None) -> int:
    """The most bytes that the allocator has taken from the driver."""
    return cuda.max_memory_reserved(device_index)


def reset_peak_memory_stats(device_index: Any = None) -> None:
    """Starts the peaks again from the current values."""
    cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None) -> None:
    """Starts the sums again from 0."""
    cuda.reset_accumulated_memory_stats(device_index)


__getattr__ = _lacking(__name__)
