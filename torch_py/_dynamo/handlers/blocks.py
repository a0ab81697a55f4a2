"""Blocks of Python 3.10, which say where exceptions are handled, and the three values on the stack that stand
for an exception there."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo.context_managers import enter_and_exit
from torch_py._dynamo.decode.instructions import EXCEPT_HANDLER, SETUP_FINALLY
from torch_py._dynamo.frame import Frame


def setup_finally(frame: Frame, target: int) -> None:
    frame.blocks.append((SETUP_FINALLY, target, len(frame.stack)))


def setup_with(frame: Frame, target: int) -> None:
    """Replaces the manager by its bound __exit__, and pushes what __enter__ returns."""
    leave, value = enter_and_exit(frame, frame.stack[-1])
    frame.stack[-1] = leave
    frame.blocks.append((SETUP_FINALLY, target, len(frame.stack)))
    frame.stack.append(value)


def pop_block(frame: Frame, arg: Any) -> None:
    frame.blocks.pop()


def pop_except_block(frame: Frame, arg: Any) -> None:
    kind, _, level = frame.blocks.pop()
    assert kind == EXCEPT_HANDLER
    frame.capture.handled = frame.stack[-2]
    del frame.stack[-3:]


def reraise_triple(frame: Frame, arg: Any) -> None:
    error = frame.stack[-2]
    del frame.stack[-3:]
    raise error


def with_except_start_triple(frame: Frame, arg: Any) -> None:
    """Calls __exit__, the seventh from the top, with the exception on top."""
    _, error, kind = frame.stack[-3:]
    result = frame.capture.call(frame.stack[-7], (kind, error, error.__traceback__), {})
    frame.stack.append(result)
