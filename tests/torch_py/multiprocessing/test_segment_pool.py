"""Shared-memory segments that the sender uses again once the receiver returns them.

Both ends are in one process here.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

import torch_py as torch

C: Any = torch._C


class Ends:
    """A pool and a receiver, and methods that pass a storage from one to the other."""

    def __init__(self) -> None:
        self.pool = C._SegmentPool()
        self.receiver = C._SegmentReceiver()

    def allocate(self, size: int) -> Any:
        return torch.empty(0, dtype=torch.uint8).set_(self.pool.allocate(size))

    def send(self, tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        number, capacity, descriptor = self.pool.export(storage)
        received = self.receiver.receive(
            number, os.dup(descriptor) if descriptor >= 0 else -1, capacity, storage.nbytes()
        )
        if descriptor >= 0:
            self.pool.delivered([number])
        return torch.empty(0, dtype=torch.uint8).set_(received)

    def give_back(self) -> None:
        self.pool.release(*self.receiver.take_returned())


def test_a_segment_is_used_again() -> None:
    ends = Ends()
    for value in range(5):
        tensor = ends.allocate(100000).fill_(value)
        received = ends.send(tensor)
        assert received.numel() == 100000 and (received == value).all()
        del tensor, received
        ends.give_back()
    assert ends.pool.count() == (1, 1)


@pytest.mark.parametrize("keeper", ["sender", "receiver", "view of the receiver"])
def test_a_segment_in_use_is_not_used_again(keeper: str) -> None:
    ends = Ends()
    tensor = ends.allocate(5000).fill_(1)
    received = ends.send(tensor)
    kept = {"sender": tensor, "receiver": received, "view of the receiver": received[7:9]}[keeper]
    del tensor, received
    ends.give_back()
    ends.allocate(5000).fill_(2)
    assert (kept == 1).all() and ends.pool.count()[0] == 2
    del kept
    ends.give_back()
    assert ends.pool.count() == (2, 2)


def test_storages_outlive_both_ends() -> None:
    ends = Ends()
    tensor = ends.allocate(5000).fill_(3)
    received = ends.send(tensor)
    del ends
    assert received.sum() == 15000 and tensor.sum() == 15000


def test_a_fork_ends_the_use_of_what_was_handed_out() -> None:
    ends = Ends()
    tensor = ends.allocate(5000).fill_(1)
    received = ends.send(tensor)
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    del tensor, received  # a child could still look at it
    ends.give_back()
    assert ends.pool.count() == (0, 0)


def test_a_storage_is_sent_once() -> None:
    ends = Ends()
    tensor = ends.allocate(5000)
    ends.send(tensor)
    assert ends.pool.export(tensor.untyped_storage()) is None  # the sender makes a copy
    assert ends.pool.export(torch.ones(3).untyped_storage()) is None
    assert C._SegmentPool().export(Ends().allocate(10).untyped_storage()) is None


def test_sizes_that_differ_a_little_share_a_segment_and_others_do_not() -> None:
    ends = Ends()
    for size in (100000, 101000, 99000):
        ends.allocate(size)
    assert ends.pool.count() == (1, 1)
    ends.allocate(10)
    assert ends.pool.count() == (2, 2)


def test_segments_unused_for_long_are_freed() -> None:
    ends = Ends()
    tensor = ends.allocate(1_000_000)
    received = ends.send(tensor)
    del tensor, received

    ends.give_back()
    for _ in range(100):
        ends.allocate(10)

    forgotten = ends.pool.trim()
    assert forgotten == [0] and ends.pool.count()[0] == 1

    ends.receiver.forget(forgotten)
    with pytest.raises(RuntimeError, match="segment 0 was used before it was received"):
        ends.receiver.receive(0, -1, 10, 10)


def test_bad_arguments() -> None:
    ends = Ends()
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        ends.pool.allocate(-1)
    with pytest.raises(TypeError, match="expected an UntypedStorage"):
        ends.pool.export(3)
    with pytest.raises(TypeError, match="sequence"):
        ends.pool.release(3, [])
    received = ends.send(ends.allocate(10))
    assert received.numel() == 10
    with pytest.raises(RuntimeError, match="4096 bytes, 5000 were expected"):
        ends.receiver.receive(0, -1, 0, 5000)


def test_both_ends_belong_to_their_process() -> None:
    ends = Ends()
    tensor = ends.allocate(10)
    calls = [
        lambda: ends.pool.allocate(5),
        lambda: ends.pool.export(tensor.untyped_storage()),
        lambda: ends.pool.release([], []),
        lambda: ends.pool.delivered([]),
        ends.pool.trim,
        ends.pool.count,
        ends.receiver.take_returned,
        lambda: ends.receiver.forget([]),
    ]

    pid = os.fork()
    if pid == 0:
        refused = 0
        try:
            for call in calls:
                try:
                    call()
                except RuntimeError as error:
                    refused += "was used in its child" in str(error)
        finally:
            os._exit(refused)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == len(calls)
    assert ends.pool.count() == (1, 0)
