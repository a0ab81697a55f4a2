"""The two ends of a connection to a worker process, for objects with tensors."""

from __future__ import annotations

import array
import multiprocessing
import os
import select
import socket
import weakref
from collections import deque
from typing import Any

from torch_py import _C
from torch_py.multiprocessing._messages import Message, decode, encode

_BUFFER_BYTES = 131072  # larger than any packet
_MOST_DESCRIPTORS = 253
_PARENT_CHECK_MS = (
    5000  # how often a waiting worker looks whether its parent is still the one that started it
)


class Closed(Exception):
    """The other process has closed its end, or is gone."""


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that keep packets apart."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * _BUFFER_BYTES)
    return ends


class _End:
    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._buffer = bytearray(_BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4)

    def _receive(self) -> tuple[memoryview, list[int]] | None:
        """A packet, or None when there is none now. The memory is used again by the next call. Raises
        Closed."""
        try:
            count, extra, flags, _ = self.socket.recvmsg_into(
                [self._buffer], self._space, socket.MSG_CMSG_CLOEXEC
            )
        except (BlockingIOError, InterruptedError):
            return None
        except OSError as error:
            raise Closed from error
        descriptors: list[int] = []
        for level, kind, data in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.extend(array.array("i", data[: len(data) // 4 * 4]))
        if count == 0:
            raise Closed
        if flags & socket.MSG_CTRUNC:
            for descriptor in descriptors:
                os.close(descriptor)
            raise RuntimeError(
                "a message with tensors lost descriptors: this process has too many files open (see ulimit "
                "-n)"
            )
        return self._view[:count], descriptors

    def _send(self, message: Message) -> bool:
        """Whether the system took the packet. Raises Closed."""
        extra = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", message.descriptors))]
            if message.descriptors
            else []
        )
        try:
            self.socket.sendmsg([message.data], extra)
        except (BlockingIOError, InterruptedError):
            return False
        except (BrokenPipeError, ConnectionError) as error:
            raise Closed from error
        message.sent()
        return True


class WorkerEnd(_End):
    """In the worker: waits, and watches the parent meanwhile."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.pool = _C._SegmentPool()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        parent = multiprocessing.parent_process()
        self._parent = None if parent is None else parent.sentinel
        if self._parent is not None:
            self._poll.register(self._parent, select.POLLIN)
        self._parent_pid = os.getppid() if parent is not None and parent.pid == os.getppid() else None

    def receive(self) -> Any:
        """The next object. Raises Closed when there will be none."""
        while (packet := self._receive()) is None:
            self._wait(select.POLLIN)
        return decode(*packet)

    def send(self, value: Any) -> None:
        """Raises Closed when nobody is there to receive it, and what pickling raises."""
        message = encode(value, self.pool)
        try:
            while not self._send(message):
                self._wait(select.POLLOUT)
        except BaseException:
            message.undo()
            raise

    def _wait(self, event: int) -> None:
        self._poll.modify(self.socket, event)
        ready = self._poll.poll(_PARENT_CHECK_MS)
        if any(descriptor == self._parent for descriptor, _ in ready):
            raise Closed
        if self._parent_pid is not None and os.getppid() != self._parent_pid:
            raise Closed


_parent_ends: weakref.WeakSet[ParentEnd] = weakref.WeakSet()


class ParentEnd(_End):
    """In the process that started the worker: never waits. What the system does not take at once is kept and
    sent by `flush`."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.receiver = _C._SegmentReceiver()
        self.process_id = os.getpid()
        self._outgoing: deque[Message] = deque()
        _parent_ends.add(self)

    @property
    def is_behind(self) -> bool:
        return bool(self._outgoing)

    def send(self, value: Any) -> None:
        self._outgoing.append(encode(value))
        self.flush()

    def flush(self) -> None:
        while self._outgoing and self._send(self._outgoing[0]):
            self._outgoing.popleft()

    def receive(self) -> Any:
        """An object, or None when there is none now. Raises Closed."""
        packet = self._receive()
        return None if packet is None else decode(*packet, self.receiver)

    def close(self) -> None:
        """Ends the connection: the worker hears of it at once, whoever else has inherited this end."""
        if os.getpid() == self.process_id:
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the worker was faster
        self.receiver.close()
        self.socket.close()


def _close_in_child() -> None:
    """A worker must see that its parent is gone, so no other child may hold the parent's end."""
    for end in list(_parent_ends):
        end.socket.close()
    _parent_ends.clear()


os.register_at_fork(after_in_child=_close_in_child)
