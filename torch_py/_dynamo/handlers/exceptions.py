"""Raising and handling exceptions, and `with` statements.

In Python 3.10, blocks say where exceptions are handled, and three values on the stack stand for one there.
"""

from __future__ import annotations

from typing import Any

from torch_py._dynamo.attributes import bind, in_class
from torch_py._dynamo.decode.instructions import SETUP_FINALLY
from torch_py._dynamo.frame import Frame
from torch_py._dynamo.journal import ABSENT


def _method_of(frame: Frame, manager: Any, name: str) -> Any:
    kind = type(manager)
    found = in_class(kind, name)
    if found is ABSENT:
        raise TypeError(f"{kind.__name__!r} object does not support the context manager protocol")
    return bind(frame.capture, found, manager, kind, name)


def raise_varargs(frame: Frame, count: int) -> None:
    if count == 0:
        handled = frame.capture.handled
        raise RuntimeError("No active exception to reraise") if handled is None else handled
    operands = frame.stack[len(frame.stack) - count :]
    error = _instance(frame, operands[0])
    if count == 2:
        cause = operands[1]
        error.__cause__ = None if cause is None else _instance(frame, cause)
    raise error


def _instance(frame: Frame, value: Any) -> BaseException:
    if isinstance(value, type) and issubclass(value, BaseException):
        value = frame.capture.call(value, (), {})
    if not isinstance(value, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    return value


def reraise(frame: Frame, arg: int) -> None:
    """The argument is the depth in the stack of the offset of the instruction that failed first, or 0."""
    raise frame.stack.pop()


def push_exc_info(frame: Frame, arg: Any) -> None:
    error = frame.stack[-1]
    frame.stack[-1:] = [frame.capture.handled, error]
    frame.capture.handled = error


def pop_except(frame: Frame, arg: Any) -> None:
    frame.capture.handled = frame.stack.pop()


def check_exc_match(frame: Frame, arg: Any) -> None:
    error, kinds = frame.stack[-2:]
    frame.stack[-1] = _matches(type(error), kinds)


def jump_if_not_exc_match(frame: Frame, target: int) -> None:
    """Both in one (Python 3.10)."""
    error, kinds = frame.stack[-2:]
    found = _matches(error if isinstance(error, type) else type(error), kinds)
    del frame.stack[-2:]
    if not found:
        frame.jump(target)


def _matches(raised: type[BaseException], kinds: Any) -> bool:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return issubclass(raised, kinds)


def load_assertion_error(frame: Frame, arg: Any) -> None:
    frame.stack.append(AssertionError)


# Context managers


def before_with(frame: Frame, arg: Any) -> None:
    """Replaces the manager by its bound __exit__, and pushes what __enter__ returns."""
    enter = _method_of(frame, frame.stack[-1], "__enter__")
    leave = _method_of(frame, frame.stack[-1], "__exit__")
    frame.stack[-1:] = [leave, frame.capture.call(enter, (), {})]


def with_except_start(frame: Frame, arg: Any) -> None:
    """Calls __exit__, the fourth from the top, with the exception on top."""
    _call_exit(frame, frame.stack[-4], frame.stack[-1])


def _call_exit(frame: Frame, leave: Any, error: BaseException) -> None:
    frame.stack.append(frame.capture.call(leave, (type(error), error, error.__traceback__), {}))


def setup_finally(frame: Frame, target: int) -> None:
    frame.blocks.append((SETUP_FINALLY, target, len(frame.stack)))


def setup_with(frame: Frame, target: int) -> None:
    """As `before_with`; exceptions go to a block, which begins below what __enter__ returns."""
    before_with(frame, None)
    frame.blocks.append((SETUP_FINALLY, target, len(frame.stack) - 1))


def pop_block(frame: Frame, arg: Any) -> None:
    frame.blocks.pop()


def pop_except_block(frame: Frame, arg: Any) -> None:
    frame.blocks.pop()
    frame.capture.handled = frame.stack[-2]
    del frame.stack[-3:]


def reraise_triple(frame: Frame, arg: Any) -> None:
    raise frame.stack[-2]


def with_except_start_triple(frame: Frame, arg: Any) -> None:
    """Calls __exit__, the seventh from the top, with the exception on top."""
    _call_exit(frame, frame.stack[-7], frame.stack[-2])
