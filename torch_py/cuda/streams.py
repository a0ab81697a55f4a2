"""Streams and events of CUDA devices."""

from __future__ import annotations

import ctypes
from typing import Any

from torch_py import _C
from torch_py.cuda._devices import _exchange_device
from torch_py.cuda._init import _lazy_init
from torch_py.cuda._load import reason as _reason
from torch_py.cuda._utils import _get_device_index

__all__ = ["Event", "ExternalStream", "Stream"]


def _check_available(what: str) -> None:
    why = _reason()
    if why:
        raise RuntimeError(f"torch.cuda.{what}: {why}")
    _lazy_init()


class Stream(_C.Stream):
    """A queue of work on a CUDA device. Work in one stream runs in order, that of different streams in any.

    Args:
        device: where the stream is; by default the current device.
        priority: lower numbers run first; numbers out of range count as the nearest.
    """

    __module__ = "torch_py.cuda"

    def __new__(cls, device: Any = None, priority: int = 0, **known: Any) -> Stream:
        _check_available("Stream")
        if "stream_id" in known:
            return super().__new__(cls, known["stream_id"], known["device_index"], known["device_type"])

        index = _get_device_index(device, optional=True)
        where = _C.device("cuda", int(_C._cuda_getDevice()) if index < 0 else index)
        if known.get("stream_ptr"):
            return super().__new__(cls, where, stream_ptr=known["stream_ptr"])
        return super().__new__(cls, where, priority=priority)

    @property
    def cuda_stream(self) -> int:
        """The address of CUDA's handle; 0 for the default stream."""
        return self.native_handle

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The lowest and the highest priority: (0, -5)."""
        _check_available("Stream.priority_range")
        return _C._cuda_priorityRange()

    def wait_event(self, event: Any) -> None:
        """Lets work that is put in from now on wait for an event."""
        event.wait(self)

    def wait_stream(self, stream: Any) -> None:
        """Lets work that is put in from now on wait for the work that another stream has now."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Any = None) -> Any:
        """Marks the work put in so far by an event, a new one by default, and returns it."""
        marked = Event() if event is None else event
        marked.record(self)
        return marked

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.cuda_stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The version and the handle, for libraries that follow CUDA's stream protocol."""
        return 0, self.cuda_stream

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream of another library, which must outlive its use here.

    Args:
        stream_ptr: the address of CUDA's handle.
        device: where the stream is; by default the current device.
    """

    __module__ = "torch_py.cuda"

    def __new__(cls, stream_ptr: int, device: Any = None, **known: Any) -> ExternalStream:
        return super().__new__(cls, device=device, stream_ptr=stream_ptr, **known)  # type: ignore[return-value]


class Event(_C.Event):
    """A point in the work of a stream, for which other streams or the host can wait.

    Args:
        enable_timing: keeps the time, for `elapsed_time`.
        blocking: lets the waiting host sleep instead of spinning.
        interprocess: lets other processes open the event; excludes timing.
        external: not supported: graphs capture events as dependencies of streams only.
    """

    __module__ = "torch_py.cuda"

    def __new__(
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> Event:
        _check_available("Event")
        if external:
            raise NotImplementedError("torch.cuda.Event: torch_py has no external events of graphs")
        return super().__new__(
            cls, "cuda", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
        )

    def record(self, stream: Any = None) -> None:
        """Marks the work put into `stream` so far, by default into the current stream."""
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: Any = None) -> None:
        """Lets later work of `stream`, by default the current one, wait for the event."""
        super().wait(current_stream() if stream is None else stream)

    @property
    def cuda_event(self) -> int:
        """The address of CUDA's handle; 0 before the first record."""
        return self.event_id

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.cuda_event)

    def __repr__(self) -> str:
        if self.cuda_event:
            return f"<torch.cuda.Event {self.cuda_event:#x}>"
        return "<torch.cuda.Event uninitialized>"


def _stream_of(parts: tuple[int, int, int]) -> Stream:
    stream_id, index, kind = parts
    return Stream(stream_id=stream_id, device_index=index, device_type=kind)


def current_stream(device: Any = None) -> Stream:
    """The stream into which this thread puts the work of a device, by default of the current one."""
    _lazy_init()
    return _stream_of(_C._cuda_getCurrentStream(_get_device_index(device, optional=True)))


def default_stream(device: Any = None) -> Stream:
    """The stream of a device that is the current one unless another is chosen."""
    _lazy_init()
    return _stream_of(_C._cuda_getDefaultStream(_get_device_index(device, optional=True)))


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """A stream of another library: see `ExternalStream`."""
    _lazy_init()
    return ExternalStream(data_ptr, device)


def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
    _C._cuda_setStream(stream_id=stream_id, device_index=device_index, device_type=device_type)


def set_stream(stream: Any) -> None:
    """Makes a stream, and its device, the current ones of this thread; None has no effect."""
    if stream is None:
        return
    _lazy_init()
    _set_stream_by_id(stream.stream_id, stream.device_index, stream.device_type)


class StreamContext:
    """A block in which a stream, and its device, are the current ones; None has no effect.

    The stream that was current on that device, and the current device, are restored.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._before: list[tuple[int, Stream]] = []  # device and stream, for each entry of the block

    def __enter__(self) -> None:
        if self.stream is None:
            return
        device = _exchange_device(self.stream.device_index)
        self._before.append((device, current_stream(self.stream.device_index)))
        set_stream(self.stream)

    def __exit__(self, *exception: object) -> None:
        if self.stream is None:
            return
        device, before = self._before.pop()
        set_stream(before)
        _exchange_device(device)


def stream(stream: Any) -> StreamContext:
    """A block in which a stream is the current one: see `StreamContext`."""
    return StreamContext(stream)
