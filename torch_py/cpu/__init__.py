"""The CPU as a device: always available, one in number, and always done with its work."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from torch_py import _C

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "memory_stats",
    "set_cache_limit",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def device_count() -> int:
    return 1


def current_device() -> str:
    return "cpu"


def set_device(device: Any) -> None:
    """Does nothing: there is only one CPU device."""


def synchronize(device: Any = None) -> None:
    """Returns at once: operators on the CPU are done when they return."""


def memory_stats() -> dict[str, int]:
    """What the allocator of CPU tensors holds, in bytes.

    Freed memory is kept for reuse, as new pages are expensive. How much follows from recent use: a block
    above 1 MiB that was not used for a second goes back to the system, and so does what exceeds twice the
    most that was in use within ten seconds, or 32 MiB if that is more. `set_cache_limit` sets another limit.
    Tensors themselves, of a few hundred bytes each, count as well as their elements.
    The memory of tensors in shared memory or made from foreign arrays does not count.

    Returns:
        A dict. `allocated_bytes` are in use, `cached_bytes` are kept for reuse, `reserved_bytes` is their
        sum, with the largest value so far in `peak_reserved_bytes`. `allocations` counts requests, and
        `system_allocations` those that needed new memory.

    Example:
        >>> x = torch.zeros(1 << 20)
        >>> del x
        >>> torch.cpu.memory_stats()["cached_bytes"] >= 4 << 20
        True
    """
    return _C._cpu_memory_statistics()


def empty_cache() -> None:
    """Gives memory that is kept for reuse back to the system.

    The lists of other threads, at most 32 MiB each, stay until those threads end.
    """
    _C._cpu_empty_cache()


def set_cache_limit(bytes: int) -> None:
    """Sets how much memory is kept for reuse at most, whatever was in use recently.

    Args:
        bytes: The limit; 0 turns the cache off. Without a call, it is the environment variable
            `TORCH_PY_CPU_CACHE_LIMIT` (bytes, or a number with the suffix K, M or G), otherwise a quarter of
            the memory of the machine or container.

    Raises:
        ValueError: If `bytes` is negative.
    """
    _C._cpu_set_cache_limit(bytes)


class Stream:
    """The order of the program, in which all work is done."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass


class Event:
    """A mark in the order of the program, reached as soon as it is recorded."""

    def query(self) -> bool:
        return True

    def record(self, stream: Any = None) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def wait(self, stream: Any = None) -> None:
        pass


_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    return _stream


class StreamContext(contextlib.AbstractContextManager["StreamContext"]):
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __exit__(self, *exception: object) -> None:
        pass


def stream(stream: Any) -> StreamContext:
    """A block whose work is in the order of the program, like all work."""
    return StreamContext(stream)


def _is_avx2_supported() -> bool:
    return _C._cpu_capability() in ("AVX2", "AVX512")


def _is_avx512_supported() -> bool:
    return bool(_C._cpu_capability() == "AVX512")


def __getattr__(name: str) -> Any:
    if name == "amp":
        return importlib.import_module("torch_py.cpu.amp")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
