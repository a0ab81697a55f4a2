"""Jumps, loops, the end of a function, and generators: frames that are left and entered again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from torch_py._dynamo import attributes, operations
from torch_py._dynamo.frame import Finished, Frame
from torch_py._dynamo.generator import InterpretedGenerator


def jump(frame: Frame, target: int) -> None:
    frame.jump(target)


def _jump_if(frame: Frame, target: int) -> None:
    """Drops the top, and jumps if it has the truth that the instruction names."""
    value = frame.stack[-1]
    truth = value if type(value) is bool else _truth(frame, value, frame.at - 1)
    frame.stack.pop()
    if truth is (frame.instruction.op == "jump_if_true"):
        frame.jump(target)


jump_if_true = jump_if_false = _jump_if


def _truth(frame: Frame, value: Any, at: int) -> bool:
    """The truth of a value for the instruction at a position, if that jumps by it.

    The capture may assume that an `assert` holds. The jump leads over its error, or to it: at the end of a
    loop, Python 3.12 and later jump to the error and go on with the jump back.
    """
    instructions = frame.program.instructions
    jump = instructions[at]
    if jump.op in ("jump_if_true", "jump_if_false"):
        jumps_if = jump.op == "jump_if_true"
        for position, holds in ((at + 1, jumps_if), (frame.program.index_of[jump.arg], not jumps_if)):
            if instructions[position].op == "load_assertion_error" and frame.capture.assumes(value, holds):
                return holds
    return frame.capture.truth(value)


def _jump_if_none(frame: Frame, target: int) -> None:
    if (frame.stack.pop() is None) is (frame.instruction.op == "jump_if_none"):
        frame.jump(target)


jump_if_none = jump_if_not_none = _jump_if_none


def _jump_or_pop(frame: Frame, target: int) -> None:
    if frame.capture.truth(frame.stack[-1]) is (frame.instruction.op == "jump_if_true_or_pop"):
        frame.jump(target)
    else:
        frame.stack.pop()


jump_if_true_or_pop = jump_if_false_or_pop = _jump_or_pop


def to_bool(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = _truth(frame, frame.stack[-1], frame.at)


def compare_as_bool(frame: Frame, function: Callable[[Any, Any], Any]) -> None:
    left, right = frame.stack[-2:]
    result = _truth(frame, operations.binary(frame.capture, function, left, right), frame.at)
    frame.stack[-2:] = [result]


def get_iter(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = operations.iterator_of(frame.capture, frame.stack[-1])


get_yield_from_iter = get_iter


def for_iter(frame: Frame, target: int) -> None:
    """Pushes the next element; at the end drops the iterator and jumps."""
    value = operations.next_of(frame.capture, frame.stack[-1], operations.END)
    if value is operations.END:
        frame.stack.pop()
        frame.jump(target)
    else:
        frame.stack.append(value)


def return_value(frame: Frame, arg: Any) -> Finished:
    return Finished(frame.stack.pop())


def return_const(frame: Frame, value: Any) -> Finished:
    return Finished(value)


# Generators


def return_generator(frame: Frame, arg: Any) -> Finished:
    generator = InterpretedGenerator(frame)
    frame.is_tail = False
    frame.stack.append(None)  # what the first `send` pushes; the code pops it
    return Finished(frame.capture.made(generator))


def yield_value(frame: Frame, arg: Any) -> Finished:
    frame.is_suspended = True
    return Finished(frame.stack.pop())


def _delegate(frame: Frame, target: int, dropped: int) -> Finished:
    """Suspends the frame until the iterator below the top has ended, whose result comes in place of as many
    values as are dropped. It goes on at the target."""
    iterator = frame.stack[-2]
    is_generator = isinstance(iterator, InterpretedGenerator)
    del frame.stack[-dropped:]
    frame.jump(target)
    frame.is_suspended = True
    frame.delegate = iterator if is_generator else _elements(frame.capture, iterator)
    return Finished(None)


def _elements(capture: Any, iterator: Any) -> Generator[Any, Any, Any]:
    """What an iterator gives; what is sent is for the iterator."""
    sent = None
    try:
        while True:
            if sent is not None:
                element = capture.call(attributes.load(capture, iterator, "send"), (sent,), {})
            elif operations.is_native_iterator(iterator):
                element = operations.next_of(capture, iterator, operations.END)
                if element is operations.END:
                    return None
            else:
                element = capture.call(attributes.load(capture, iterator, "__next__"), (), {})
            sent = yield element
    except StopIteration as stop:
        return stop.value


def send(frame: Frame, target: int) -> Finished:
    """`yield from`: the only step of a loop that passes values on to the iterator."""
    return _delegate(frame, target, dropped=2)


def send_kept(frame: Frame, target: int) -> Finished:
    """Like `send`, where the code at the target drops the iterator."""
    return _delegate(frame, target, dropped=1)


def yield_from(frame: Frame, arg: Any) -> Finished:
    """Like `send`, followed by what comes after it (Python 3.10)."""
    return _delegate(frame, frame.instruction.end, dropped=2)


def end_send(frame: Frame, arg: Any) -> None:
    del frame.stack[-2]
