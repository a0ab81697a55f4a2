"""The word of a thread's state: everything that makes operators do something else is in it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

import torch_py as torch
from torch_py.overrides import TorchFunctionMode
from torch_py.utils._python_dispatch import TorchDispatchMode

compiler = torch._C._compiler


@contextlib.contextmanager
def setting(change: Callable[[Any], None], value: Any, before: Any) -> Iterator[None]:
    change(value)
    try:
        yield
    finally:
        change(before)


@contextlib.contextmanager
def level() -> Iterator[None]:
    torch._C._begin_level()
    try:
        yield
    finally:
        torch._C._end_level()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (torch.no_grad, "grad mode was on, is off"),
        (torch.inference_mode, "grad mode was on, is off"),
        (lambda: torch.autocast("cpu"), "autocast on cpu was off, is on"),
        (lambda: torch.autocast("cuda", enabled=False), None),
        (
            lambda: setting(lambda on: torch.set_autocast_enabled("meta", on), True, False),
            "autocast on other devices was 0, is 1",
        ),
        (lambda: torch.device("meta"), "the default device was not set, is meta"),
        (
            lambda: setting(torch.set_default_dtype, torch.float64, torch.float32),
            "the default dtype was torch.float32, is torch.float64",
        ),
        (
            lambda: setting(torch.use_deterministic_algorithms, True, False),
            "deterministic algorithms was off, is on",
        ),
        (TorchFunctionMode, "a TorchFunctionMode was off, is on"),
        (TorchDispatchMode, "a TorchDispatchMode was off, is on"),
        (level, "the number of function transforms was 0, is 1"),
    ],
)
def test_changes(make: Callable[[], AbstractContextManager[Any]], said: str | None) -> None:
    word = compiler.thread_state()
    program = compiler.GuardProgram([("state", word, "state")], 0)
    assert program.check(()) is None
    with make():
        assert program.check(()) == said
        assert (compiler.thread_state() == word) == (said is None)
    assert program.check(()) is None


def test_autocast_dtypes() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        program = compiler.GuardProgram([("state", compiler.thread_state(), "state")], 0)
    with torch.autocast("cpu", torch.float16):
        assert program.check(()) == "the autocast dtype on cpu was torch.bfloat16, is torch.float16"


def test_other_threads_have_a_state_of_their_own() -> None:
    words = []
    with torch.no_grad(), torch.device("meta"):
        thread = threading.Thread(target=lambda: words.append(compiler.thread_state()))
        thread.start()
        thread.join()
    assert words == [compiler.thread_state()]
