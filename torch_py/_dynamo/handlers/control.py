"""Jumps, loops, and the end of a function."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo import iteration
from torch_py._dynamo.frame import Finished, Frame


def jump(frame: Frame, target: int) -> None:
    frame.jump(target)


def jump_if_true(frame: Frame, target: int) -> None:
    truth = _condition(frame, frame.stack[-1], frame.at, target, jumps_if=True)
    frame.stack.pop()
    if truth:
        frame.jump(target)


def jump_if_false(frame: Frame, target: int) -> None:
    truth = _condition(frame, frame.stack[-1], frame.at, target, jumps_if=False)
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


def truth_before_jump(frame: Frame, value: Any) -> bool:
    """The truth of a value, which the next instruction may ask for."""
    following = frame.program.instructions[frame.at]
    if following.op in ("jump_if_true", "jump_if_false"):
        jumps_if = following.op == "jump_if_true"
        return _condition(frame, value, frame.at + 1, following.arg, jumps_if)
    return frame.capture.truth(value)


def _condition(frame: Frame, value: Any, following: int, target: int, jumps_if: bool) -> bool:
    """The truth of a value, for a jump to the offset `target`; `following` is the instruction after it.

    The capture may assume that an `assert` holds. The jump leads over its error, or to it: at the end of a
    loop, Python 3.12 and later jump to the error and go on with the jump back.
    """
    instructions = frame.program.instructions
    for position, holds in ((following, jumps_if), (frame.program.index_of[target], not jumps_if)):
        if instructions[position].op == "load_assertion_error" and frame.capture.assumes(value, holds):
            return holds
    return frame.capture.truth(value)


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


def for_iter_kept(frame: Frame, target: int) -> None:
    """Like `for_iter`, where the code at the target drops the iterator."""
    value = iteration.next_of(frame.capture, frame.stack[-1], iteration.END)
    if value is iteration.END:
        frame.jump(target)
    else:
        frame.stack.append(value)


def return_value(frame: Frame, arg: Any) -> Finished:
    return Finished(frame.stack.pop())


def return_const(frame: Frame, value: Any) -> Finished:
    return Finished(value)
