"""The initialisation of CUDA: whether there is a device, and what waits for it."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py.cuda import _load

_initialized = False
_in_bad_fork = False
_lock = threading.RLock()
_waiting: list[tuple[Callable[[], Any], str]] = []  # calls, each with the place that asked for it


class DeferredCudaCallError(Exception):
    """A call that waited for the initialisation failed."""


def is_available() -> bool:
    """Whether there is a CUDA device that can be used."""
    return device_count() > 0


def device_count() -> int:
    """The number of CUDA devices; 0 without driver or CUDA library. Does not initialise CUDA."""
    return int(_C._cuda_getDeviceCount())


def is_initialized() -> bool:
    """Whether CUDA is in use."""
    return (_initialized or _has_memory()) and not _in_bad_fork


def _has_memory() -> bool:
    """Whether tensors were made without a call of this module."""
    if not _load.was_tried:
        return False
    devices = range(device_count())
    return any(_C._cuda_memoryStats(index).get("allocation.all.allocated", 0) for index in devices)


def _is_in_bad_fork() -> bool:
    """Whether this process was forked from one that used CUDA, so that it cannot use it."""
    return _in_bad_fork


def init() -> None:
    """Initialises CUDA, which happens by itself when it is first used.

    Raises AssertionError without the CUDA library, and RuntimeError without a GPU or in a process forked from
    one that used CUDA.
    """
    _lazy_init()


def _lazy_init() -> None:
    global _initialized
    if _initialized and not _in_bad_fork:
        return
    with _lock:
        if _initialized and not _in_bad_fork:
            return
        _check_usable()
        _initialized = True  # before the calls, which may come here again
        os.register_at_fork(after_in_child=_after_fork)
        run_waiting_calls()


def run_waiting_calls() -> None:
    """Makes the calls that waited for CUDA to be there.

    Raises DeferredCudaCallError for the first that fails.
    """
    with _lock:
        calls = list(_waiting)
        _waiting.clear()
    for call, place in calls:
        try:
            call()
        except Exception as error:
            raise DeferredCudaCallError(
                f"a call that waited for CUDA failed: {error}\n\nIt was made here:\n\n{place}"
            ) from error


def _check_usable() -> None:
    if _in_bad_fork:
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use "
            "the 'spawn' start method"
        )
    why = _load.reason()
    if why:
        raise (RuntimeError if _C._cuda_isLoaded() else AssertionError)(f"torch.cuda: {why}")


def _after_fork() -> None:
    global _in_bad_fork
    _in_bad_fork = True


def _lazy_call(callable: Callable[[], Any], **options: Any) -> None:
    """Calls now if the CUDA library is there, otherwise when it will be."""
    if _load.was_tried:
        if device_count() > 0 and not _in_bad_fork:
            callable()
        return
    with _lock:
        _waiting.append((callable, "".join(traceback.format_stack())))
