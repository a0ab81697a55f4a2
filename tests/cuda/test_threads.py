"""Many threads with a stream each: memory that goes from one to another, and what is left at the end."""

from __future__ import annotations

import gc
import os
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

THREADS = 8
ROUNDS = 60
ELEMENTS = 300


def in_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Runs work(0), work(1), ... at the same time; the first error is raised here."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_a_stream_is_current_in_its_own_thread_only():
    streams = [torch.cuda.Stream() for _ in range(THREADS)]
    meeting = threading.Barrier(THREADS)

    def work(number: int) -> None:
        assert torch.cuda.current_stream() == torch.cuda.default_stream()
        with torch.cuda.stream(streams[number]):
            meeting.wait()
            assert torch.cuda.current_stream() == streams[number]
            meeting.wait()
        assert torch.cuda.current_stream() == torch.cuda.default_stream()

    in_threads(work)


def test_tensors_are_handed_from_thread_to_thread():
    """Each thread computes, hands its tensor and an event to another, and drops its own reference before the
    other has begun to read."""
    inboxes: list[queue.Queue[Any]] = [queue.Queue() for _ in range(THREADS)]
    sums = [0.0] * THREADS

    def work(number: int) -> None:
        choices = random.Random(number)
        stream = torch.cuda.Stream()
        received = []
        with torch.cuda.stream(stream):
            for turn in range(ROUNDS):
                size = choices.choice((1, ELEMENTS, 5 * ELEMENTS))
                value = torch.full((size,), float(number * ROUNDS + turn), device="cuda")
                value = value * 2 + 1
                done = torch.cuda.Event()
                done.record()
                inboxes[(number + 1 + turn) % THREADS].put((value, done, 2.0 * (number * ROUNDS + turn) + 1))
                del value

                # As many arrive as are sent, but not in the same turns.
                given, ready, expected = inboxes[number].get(timeout=60)
                stream.wait_event(ready)
                given.record_stream(stream)
                received.append((given.sum() / given.numel(), expected))
                given.mul_(0)  # the sender's next allocation must not see it
                del given
            for mean, expected in received:
                assert mean.item() == expected
                sums[number] += expected

    # Each turn sends one tensor to every thread, so nobody waits for ever.
    in_threads(work)
    assert sum(sums) == sum(2.0 * k + 1 for k in range(THREADS * ROUNDS))


def test_memory_freed_by_another_thread_is_used_again_in_order():
    """The buffers of one thread are dropped by others, which fill memory of their own at once."""
    buffers: queue.Queue[Any] = queue.Queue(maxsize=THREADS)

    def work(number: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(ROUNDS):
                mine = torch.full((ELEMENTS,), float(number + 1), device="cuda")
                product = mine * (turn + 1)
                buffers.put(mine)
                del mine
                buffers.get()  # dropped here, most often another thread's
                noise = torch.full((ELEMENTS,), float("nan"), device="cuda")
                assert product.sum().item() == ELEMENTS * (number + 1) * (turn + 1)
                del noise

    in_threads(work)


def test_copies_and_pinned_memory_of_many_threads():
    def work(number: int) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for turn in range(ROUNDS // 3):
                staged = torch.full((ELEMENTS,), float(number), pin_memory=True)
                there = staged.to("cuda", non_blocking=True)
                del staged  # its block may be reused once the copy is over, not before
                back = torch.empty(ELEMENTS, pin_memory=True)
                back.copy_(there + turn, non_blocking=True)
                stream.synchronize()
                assert back.eq(number + turn).all()

    in_threads(work)


def test_gradients_of_many_threads():
    weight = torch.ones(ELEMENTS, device="cuda")
    torch.cuda.synchronize()

    def work(number: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(ROUNDS // 6):
                x = torch.full((ELEMENTS,), float(number), device="cuda", requires_grad=True)
                ((x * weight) ** 2 * (turn + 1)).sum().backward()
                assert x.grad.eq(2.0 * number * (turn + 1)).all().item()

    in_threads(work)


def test_nothing_is_left_allocated():
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    test_tensors_are_handed_from_thread_to_thread()
    gc.collect()
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before


@pytest.mark.skipif("emulation" not in os.environ["TORCH_PY_CUDA_LIBRARY"], reason="needs the emulation")
@pytest.mark.skipif("TORCH_PY_EMULATED_STREAMS" in os.environ, reason="one order was asked for")
@pytest.mark.parametrize(
    ("streams", "threads"),
    [("now", "ascending"), ("1", "descending"), ("2", "shuffled:1"), ("3", "shuffled:2")],
)
def test_in_other_orders(streams: str, threads: str) -> None:
    """All of the above with other orders of the work of streams, and of the threads of kernels."""
    orders = {"TORCH_PY_EMULATED_STREAMS": streams, "TORCH_PY_EMULATION_ORDER": threads}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=os.environ | orders, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "6 passed" in done.stdout, done.stdout[-3000:] + done.stderr[-1000:]
