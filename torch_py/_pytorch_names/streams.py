"""Queues of work on a device, and events in them.

The one queue of the CPU is always empty, as its work is done when a call returns.
"""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py import _C


def _device(given: Any, caller: str) -> Any:
    device = _C.device("cpu") if given is None else _C.device(given)
    if device.type != "cpu":
        raise RuntimeError(f"torch.{caller}: torch_py is not linked with support for {device.type} devices")
    return device


def _no_events(*arguments: Any) -> NoReturn:
    raise RuntimeError("cpu backend doesn't support events.")


class Stream:
    """The queue of `device`. The CPU has one, without events; other devices raise RuntimeError."""

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _device(device, "Stream")
        self.device_index = -1
        self.stream_id = 0
        self.device_type = 0

    def query(self) -> bool:
        """Whether all work is done."""
        return True

    def synchronize(self) -> None:
        """Waits until all work is done."""

    def wait_event(self, event: Event) -> None:
        """Does nothing: no event has been recorded."""

    record_event = wait_stream = _no_events

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, "
            f"stream_id={self.stream_id}"
        )


class Event:
    """An event in a stream.

    The CPU does not support events: `record` raises RuntimeError and `elapsed_time` ValueError.
    """

    def __init__(
        self,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        self.device = _device(device, "Event")
        self.event_id = 0
        self._timed = enable_timing

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """Waits for the event."""

    def wait(self, stream: Stream | None = None) -> None:
        """Makes `stream` wait for the event."""

    def record(self, stream: Stream | None = None) -> None:
        _no_events()

    def elapsed_time(self, end_event: Event) -> float:
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def __repr__(self) -> str:
        return (
            f"torch.Event device_type={self.device.type}, device_index=-1, "
            f"event_flag={int(self._timed)}, event_id=0"
        )
