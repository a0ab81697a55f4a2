"""Sends the memory of CUDA devices to other processes."""

from __future__ import annotations

import threading
from multiprocessing import reduction
from typing import Any, cast

from torch_py import _C

# Storages that were sent, each with a byte that the receiver sets to 1 when it has closed the memory, and
# with the event that the receiver waits for: it can be opened only as long as it exists here.
_sent: list[tuple[Any, Any, Any]] = []
_lock = threading.Lock()


def collect() -> None:
    """Lets go of the storages that all receivers have closed."""
    with _lock:
        _sent[:] = [entry for entry in _sent if entry[1][0] == 0]


def reduce_cuda_storage(storage: Any) -> tuple[Any, ...]:
    """Returns how another process opens a storage, which stays alive until that process has closed it."""
    device = storage.device
    if storage.nbytes() == 0:
        return rebuild_empty, (device.index,)

    # The receiver must not read before the work of this process is done.
    event = _C.Event(device, interprocess=True)
    event.record(_C.Stream(*_C._cuda_getCurrentStream(device.index)))

    collect()
    closed = cast(Any, _C.UntypedStorage)(1)
    closed.fill_(0)
    closed.share_memory_()
    with _lock:
        _sent.append((storage, closed, event))

    flag = reduction.DupFd(closed._shared_descriptor())
    return rebuild_cuda_storage, (device.index, *_C._share_cuda(storage), flag, event.ipc_handle())


def rebuild_empty(index: int) -> Any:
    """An empty storage on a device."""
    return _C.UntypedStorage(0, device=_C.device("cuda", index))


def rebuild_cuda_storage(
    index: int, handle: bytes, offset: int, nbytes: int, flag: Any, event_handle: bytes
) -> Any:
    """The storage that `reduce_cuda_storage` described, on the device with the same index.

    Raises RuntimeError if the sender has ended.
    """
    closed = cast(Any, _C.UntypedStorage)._from_descriptor(flag.detach(), 1)
    storage = _C._open_cuda(index, handle, offset, nbytes, closed)
    event = _C.Event.from_ipc_handle(_C.device("cuda", index), event_handle)
    event.wait(_C.Stream(*_C._cuda_getCurrentStream(index)))
    return storage
