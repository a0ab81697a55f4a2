"""Jumps, loops, and the end of a function."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo import iteration
from torch_py._dynamo.conditions import condition, truth_before_jump
from torch_py._dynamo.frame import Finished, Frame


def jump(frame: Frame, target: int) -> None:
    frame.jump(target)


def jump_if_true(frame: Frame, target: int) -> None:
    truth = condition(frame, frame.stack[-1], frame.at, target, jumps_if=True)
    frame.stack.pop()
    if truth:
        frame.jump(target)


def jump_if_false(frame: Frame, target: int) -> None:
    truth = condition(frame, frame.stack[-1], frame.at, target, jumps_if=False)
    frame.stack.pop()
    if not truth:
        frame.jump(target)


def jump_if_none(frame: Frame, target: int) -> None:
    if frame.stack.pop() is None:
        frame.jump(target)


def jump_if_not_none(frame: Frame, target: int) -> None:
    if frame.stack.pop() is not None:
        frame.jump(target)


def jump_if_true_or_pop(frame: Frame, target: int) -> None:
    if frame.capture.truth(frame.stack[-1]):
        frame.jump(target)
    else:
        frame.stack.pop()


def jump_if_false_or_pop(frame: Frame, target: int) -> None:
    if frame.capture.truth(frame.stack[-1]):
        frame.stack.pop()
    else:
        frame.jump(target)


def to_bool(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = truth_before_jump(frame, frame.stack[-1])


def get_iter(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = iteration.iterator_of(frame.capture, frame.stack[-1])


def for_iter(frame: Frame, target: int) -> None:
    """Pushes the next element; at the end drops the iterator and jumps."""
    value = iteration.next_of(frame.capture, frame.stack[-1], iteration.END)
    if value is iteration.END:
        frame.stack.pop()
        frame.jump(target)
    else:
        frame.stack.append(value)


def return_value(frame: Frame, arg: Any) -> Finished:
    return Finished(frame.stack.pop())


def return_const(frame: Frame, value: Any) -> Finished:
    return Finished(value)
