"""The switches of a thread that programs change: grad mode, inference mode, autocast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch_py import _C

blocks_of_autocast = _C._autocast_nesting  # in how many the thread is


class ThreadState:
    """The switches as they are now."""

    def __init__(self) -> None:
        self.grad = _C.is_grad_enabled()
        self.inference = _C.is_inference_mode_enabled()
        self.autocast = {
            device: (_C.is_autocast_enabled(device), _C.get_autocast_dtype(device))
            for device in ("cpu", "cuda")
        }
        self.cache = _C.is_autocast_cache_enabled()
        self.nesting = blocks_of_autocast()

    def restore(self, nesting: int | None = None) -> None:
        """Sets the switches back. The thread is then in `nesting` blocks of autocast, by default in as many
        as before."""
        now = ThreadState()
        calls = self._switches_from(now)
        calls += _entries(now.nesting, self.nesting if nesting is None else nesting)
        for function, args in calls:
            function(*args)

    def changes_from(self, other: ThreadState) -> list[tuple[Any, tuple[Any, ...]]]:
        """The calls that make the state `other` this one."""
        return self._switches_from(other) + _entries(other.nesting, self.nesting)

    def _switches_from(self, other: ThreadState) -> list[tuple[Any, tuple[Any, ...]]]:
        calls: list[tuple[Any, tuple[Any, ...]]] = []
        if self.grad != other.grad:
            calls.append((_C._set_grad_enabled, (self.grad,)))
        if self.inference != other.inference:
            calls.append((_C._set_inference_mode, (self.inference,)))
        for device, (enabled, dtype) in self.autocast.items():
            before = other.autocast[device]
            if enabled != before[0]:
                calls.append((_C.set_autocast_enabled, (device, enabled)))
            if dtype != before[1]:
                calls.append((_C.set_autocast_dtype, (device, dtype)))
        if self.cache != other.cache:
            calls.append((_C.set_autocast_cache_enabled, (self.cache,)))
        return calls


def _entries(before: int, after: int) -> list[tuple[Any, tuple[Any, ...]]]:
    """The calls by which blocks of autocast are entered or left. The last one forgets what was cast."""
    calls: list[tuple[Any, tuple[Any, ...]]] = []
    calls += [(_C.autocast_increment_nesting, ())] * (after - before)
    calls += [(_C.autocast_decrement_nesting, ())] * (before - after)
    if after == 0 and before > 0:
        calls.append((_C.clear_autocast_cache, ()))
    return calls


@contextmanager
def without_autocast() -> Iterator[None]:
    """Calls inside the block are not cast."""
    enabled = [device for device in ("cpu", "cuda") if _C.is_autocast_enabled(device)]
    for device in enabled:
        _C.set_autocast_enabled(device, False)
    try:
        yield
    finally:
        for device in enabled:
            _C.set_autocast_enabled(device, True)
