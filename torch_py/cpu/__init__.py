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
    "is_available",
    "is_initialized",
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
