"""The two ends of a connection to a worker process, which carries objects with tensors."""

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
_PARENT_CHECK_MS = 5000  # how often a waiting worker checks that its parent is still the one that started it


class Closed(Exception):
    """Raised when the other process has closed its end or has ended."""


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that preserve packet boundaries."""
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
        """A packet, or None if none has arrived. The next call uses the same memory. Raises Closed."""
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
        """Whether the system accepted the packet. Raises Closed."""
        extra = []
        if message.descriptors:
            rights = array.array("i", message.descriptors)
            extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]

        try:
            self.socket.sendmsg([message.data], extra)
        except (BlockingIOError, InterruptedError):
            return False
        except (BrokenPipeError, ConnectionError) as error:
            raise Closed from error

        message.sent()
        return True


class WorkerEnd(_End):
    """The worker's end, which waits for packets and watches the parent meanwhile."""

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
        """The next object. Raises Closed if the connection has ended."""
        while (packet := self._receive()) is None:
            self._wait(select.POLLIN)
        return decode(*packet)

    def send(self, value: Any) -> None:
        """Sends an object. Raises Closed if the connection has ended, and what pickling raises."""
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
    """The end of the process that started the worker, which never waits.

    Packets that the system does not accept at once are kept, and `flush` sends them.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.receiver = _C._SegmentReceiver()
        self.process_id = os.getpid()
        self._outgoing: deque[Message] = deque()
        _parent_ends.add(self)

    @property
    def is_behind(self) -> bool:
        """Whether packets are waiting to be sent."""
        return bool(self._outgoing)

    def send(self, value: Any) -> None:
        """Sends an object, or keeps it until `flush`."""
        self._outgoing.append(encode(value))
        self.flush()

    def flush(self) -> None:
        """Sends waiting packets as far as the system accepts them."""
        while self._outgoing and self._send(self._outgoing[0]):
            self._outgoing.popleft()

    def receive(self) -> Any:
        """An object, or None if none has arrived. Raises Closed."""
        packet = self._receive()
        return None if packet is None else decode(*packet, self.receiver)

    def close(self) -> None:
        """Ends the connection.

        The worker notices at once, even if other processes have inherited this end.
        """
        if os.getpid() == self.process_id:
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the worker closed it first
        self.receiver.close()
        self.socket.close()


def _close_in_child() -> None:
    """Closes the parent's ends in a child: a worker must notice when its
    parent ends, so nobody else may hold them."""
    for end in list(_parent_ends):
        end.socket.close()
    _parent_ends.clear()


os.register_at_fork(after_in_child=_close_in_child)
