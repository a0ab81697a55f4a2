"""torch.futures: values, exceptions and callbacks, set before and after a thread waits."""

from __future__ import annotations

import threading

import pytest

from tests.subject import torch

Future = torch.futures.Future


def test_value_reaches_a_waiting_thread():
    future = Future()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(future.wait()))
    thread.start()
    assert not future.done()
    future.set_result(7)
    thread.join(10)
    assert seen == [7] and future.done() and future.value() == 7 and torch.Future is Future


def test_second_result_is_refused():
    future = Future()
    with pytest.raises(RuntimeError, match="not completed"):
        future.value()
    future.set_result(None)
    for again in (lambda: future.set_result(1), lambda: future.set_exception(ValueError())):
        with pytest.raises(RuntimeError, match="only be marked completed once"):
            again()


def test_exceptions():
    future = Future()
    with pytest.raises(AssertionError, match="not an Exception"):
        future.set_exception("text")
    future.set_exception(ValueError("bad"))
    for ask in (future.wait, future.value):
        with pytest.raises(ValueError, match="bad"):
            ask()
    with pytest.raises(RuntimeError, match="ValueError: bad"):
        future.then(lambda done: done.value()).wait()
    with pytest.raises(ValueError, match="devices"):
        Future(devices=["cpu"])


@pytest.mark.parametrize("early", [False, True])
def test_callbacks(early):
    future = Future()
    seen = []
    if early:
        future.set_result(2)
    doubled = future.then(lambda done: done.value() * 2)
    future.add_done_callback(lambda done: seen.append(done.value()))
    if not early:
        future.set_result(2)
    assert doubled.then(lambda done: done.wait() + 1).wait() == 5 and seen == [2]


def test_failing_callback_is_reported():
    future = Future()
    future.add_done_callback(lambda done: 1 / 0)
    with pytest.warns(UserWarning, match="ZeroDivisionError"):
        future.set_result(1)


def test_collections():
    first, second = Future(), Future()
    both = torch.futures.collect_all([first, second])
    second.set_result(2)
    assert not both.done()
    first.set_result(1)

    assert both.wait() == [first, second]
    assert torch.futures.wait_all([first, second]) == [1, 2]
    assert torch.futures.collect_all([]).wait() == []

    failed, open_ended = Future(), Future()
    waiting = torch.futures.collect_all([failed, open_ended])
    failed.set_exception(KeyError("x"))

    with pytest.raises(KeyError):
        waiting.wait()
    open_ended.set_result(1)
