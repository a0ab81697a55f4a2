"""Encodes objects with tensors as messages between two processes.

Note [Messages with tensors]
A message is one packet of a socket: a pickle, and descriptors for the memory that does not fit in it. A
storage is put
 * into the pickle, as bytes, if it is small: copying it costs less than a segment;
 * into a segment of the sender's pool otherwise, where `collate` may already have put it. The receiver
 returns the
   segment when the last tensor in it has been freed, and the sender uses it again, so that batch after batch
   costs neither system calls nor page faults;
 * nowhere if it is already shared memory: its descriptor is sent, and both processes use the same memory.
Tensors that share a storage in one message also share it in the receiver. The exception is a tensor that uses
little of a large storage which no earlier tensor in the message uses: its elements are sent alone.
"""

from __future__ import annotations

import io
import os
import pickle
import threading
from collections.abc import Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any, cast

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.multiprocessing.reductions import as_type, check_sendable, tensor_on

INLINE_BYTES = 16384  # the largest storage that goes into the pickle
_INLINE_TOTAL = 49152  # the largest sum of these storages
_MOST_SEGMENTS = 64  # segments with a descriptor in one message
_MOST_SHARED = 200  # descriptors of shared memory in one message (the system allows 253); others are copied
_PACKET_BYTES = 98304  # the largest pickle that fits in a packet; a larger one goes into its own segment

_DTYPES = [getattr(_C, name) for name in sorted(dir(_C)) if isinstance(getattr(_C, name), _C.dtype)]
_NUMBER_OF_DTYPE = {dtype: number for number, dtype in enumerate(_DTYPES)}
_SMALL = b"s"
_LARGE = b"l"


class Message:
    """The contents of one packet: `data`, and descriptors that others own.

    Call `sent` or `undo` afterwards.
    """

    def __init__(
        self, data: Any, descriptors: list[int], pool: Any, exported: list[int], fresh: list[int], keep: Any
    ) -> None:
        self.data = data
        self.descriptors = descriptors
        self._pool = pool
        self._exported = exported
        self._fresh = fresh
        self._keep = keep  # the memory behind the descriptors

    def sent(self) -> None:
        """Tells the pool that the message was sent."""
        if self._fresh:
            self._pool.delivered(self._fresh)

    def undo(self) -> None:
        """Tells the pool that the message was not sent."""
        if self._exported:
            self._pool.release(self._exported, ())


class _Encoder(ForkingPickler):
    """Pickles tensors as described in Note [Messages with tensors], and everything else as usual."""

    def __init__(self, buffer: io.BytesIO, pool: Any) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.pool = pool
        self.descriptors: list[int] = []
        self.exported: list[int] = []
        self.fresh: list[int] = []
        self.keep: list[Any] = []
        self._storages: dict[int, Any] = {}
        self._inlined = 0

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind is Tensor:
            return NotImplemented if value.is_meta else self._tensor(value, kind)
        if kind is _C.UntypedStorage:
            return self._storage(value)
        if isinstance(value, Tensor) and not value.is_meta and kind in ForkingPickler._extra_reducers:  # type: ignore[attr-defined]
            return self._tensor(value, kind)
        return NotImplemented

    def _tensor(self, tensor: Any, kind: type) -> tuple[Any, ...]:
        requires_grad = tensor.requires_grad
        if requires_grad:
            check_sendable(tensor)

        storage = tensor.untyped_storage()
        size = storage.nbytes()
        used = tensor.numel() * tensor.element_size()
        if size > 2 * used + 4096 and storage._address() not in self._storages and not storage.is_shared():
            tensor = tensor.detach().clone()
            storage = tensor.untyped_storage()

        # The same object represents the same storage, so that the pickle recognizes it. It is kept, so that
        # its address is not used again.
        storage = self._storages.setdefault(storage._address(), storage)
        stride = None if tensor.is_contiguous() else tuple(tensor.stride())
        layout = (_NUMBER_OF_DTYPE[tensor.dtype], tensor.storage_offset(), tuple(tensor.shape), stride)

        if kind is Tensor and not requires_grad:
            return _plain_tensor, (storage, *layout)
        return _other_tensor, (storage, *layout, kind, requires_grad)

    def _storage(self, storage: Any) -> tuple[Any, ...]:
        size = storage.nbytes()
        if size and len(self.descriptors) < _MOST_SHARED and storage.is_shared():
            return _from_descriptor, (self._attach(storage._shared_descriptor()), size)

        exported = self.pool.export(storage) if self.pool is not None else None
        if exported is None:
            small = size <= INLINE_BYTES and self._inlined + size <= _INLINE_TOTAL
            if self.pool is None or small or len(self.descriptors) >= _MOST_SEGMENTS:
                self._inlined += size
                return _from_bytes, (bytes(memoryview(storage)) if size else b"",)
            copy = self.pool.allocate(size)
            copy.copy_(storage)
            self.keep.append(copy)
            exported = self.pool.export(copy)

        number, capacity, descriptor = exported
        self.exported.append(number)
        if descriptor < 0:
            return _from_segment, (number, -1, 0, size)
        self.fresh.append(number)
        return _from_segment, (number, self._attach(descriptor), capacity, size)

    def _attach(self, descriptor: int) -> int:
        """The position of a descriptor in the message."""
        if descriptor in self.descriptors:
            return self.descriptors.index(descriptor)
        self.descriptors.append(descriptor)
        return len(self.descriptors) - 1


def encode(value: Any, pool: Any = None) -> Message:
    """Pickles `value`. Raises what pickling raises, after returning the segments to the pool."""
    buffer = io.BytesIO(_SMALL)
    buffer.seek(1)
    encoder = _Encoder(buffer, pool)

    try:
        encoder.dump(value)
    except BaseException:
        if pool is not None:
            pool.release(encoder.exported, ())
        raise

    descriptors = encoder.descriptors
    keep = [*encoder.keep, encoder._storages]
    data: Any = buffer.getbuffer()

    if len(data) > _PACKET_BYTES:
        storage = cast(Any, _C.UntypedStorage(len(data))).share_memory_()
        memoryview(storage)[:] = data
        keep.append(storage)
        descriptors = [*descriptors, storage._shared_descriptor()]
        data = _LARGE + len(data).to_bytes(8, "little")

    return Message(data, descriptors, pool, encoder.exported, encoder.fresh, keep)


# -- The receiving process ------------------------------------------------------------


class _Incoming(threading.local):
    """The receiver and the descriptors for the functions that a pickle calls, for each reading thread."""

    receiver: Any = None
    descriptors: Sequence[int] = ()


_incoming = _Incoming()


def _take(position: int) -> int:
    # The same memory may occur twice, and each user owns a descriptor.
    return os.dup(_incoming.descriptors[position])


def _from_bytes(data: bytes) -> Any:
    return _C.UntypedStorage(data) if data else _C.UntypedStorage(0)  # type: ignore[arg-type]


def _from_descriptor(position: int, size: int) -> Any:
    return cast(Any, _C.UntypedStorage)._from_descriptor(_take(position), size)


def _from_segment(number: int, position: int, capacity: int, size: int) -> Any:
    return _incoming.receiver.receive(number, _take(position) if position >= 0 else -1, capacity, size)


def _plain_tensor(storage: Any, dtype: int, offset: int, size: Any, stride: Any) -> Any:
    return tensor_on(storage, _DTYPES[dtype], offset, size, stride)


def _other_tensor(
    storage: Any, dtype: int, offset: int, size: Any, stride: Any, kind: type, requires_grad: bool
) -> Any:
    return as_type(kind, tensor_on(storage, _DTYPES[dtype], offset, size, stride), requires_grad)


def decode(data: memoryview, descriptors: list[int], receiver: Any = None) -> Any:
    """The object in a packet. It closes the descriptors in any case."""
    before = _incoming.receiver, _incoming.descriptors
    _incoming.receiver = receiver
    _incoming.descriptors = descriptors

    try:
        if data[:1] == _LARGE:
            storage = _from_descriptor(len(descriptors) - 1, int.from_bytes(data[1:9], "little"))
            data = memoryview(storage).cast("B")
        return pickle.loads(data[1:])
    finally:
        _incoming.receiver, _incoming.descriptors = before
        for descriptor in descriptors:
            os.close(descriptor)
