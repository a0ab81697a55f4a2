"""Calls: what is on the stack, as a callable and its arguments."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo import calls
from torch_py._dynamo.frame import NULL, Frame


def kw_names(frame: Frame, names: tuple[str, ...]) -> None:
    """The names of the last arguments of the call that follows."""
    frame.call_start = frame.instruction.offset
    frame.keyword_names = names


def call(frame: Frame, count: int) -> None:
    """The stack has NULL and a callable, or a function and its first argument, and then `count` arguments."""
    stack = frame.stack
    base = len(stack) - count - 2
    callee, args = _callee(stack, base, count)
    named = frame.keyword_names
    kwargs = dict(zip(named, args[len(args) - len(named) :])) if named else {}
    if named:
        args = args[: len(args) - len(named)]

    _run(frame, base, callee, args, kwargs)


def _callee(stack: list[Any], base: int, count: int) -> tuple[Any, list[Any]]:
    args = stack[base + 2 :]
    if stack[base] is NULL:
        return stack[base + 1], args
    return stack[base], [stack[base + 1], *args]


def call_null_last(frame: Frame, count: int) -> None:
    """Like `call`, with NULL or the first argument above the callable."""
    stack = frame.stack
    base = len(stack) - count - 2
    args = stack[base + 2 :]
    if stack[base + 1] is not NULL:
        args = [stack[base + 1], *args]
    _run(frame, base, stack[base], args, {})


def call_kw(frame: Frame, count: int) -> None:
    """Like `call_null_last`, with a tuple of names on top."""
    stack = frame.stack
    base = len(stack) - count - 3
    names = stack[-1]
    args = stack[base + 2 : -1]
    kwargs = dict(zip(names, args[len(args) - len(names) :]))
    args = args[: len(args) - len(names)]
    if stack[base + 1] is not NULL:
        args = [stack[base + 1], *args]
    _run(frame, base, stack[base], args, kwargs)


def call_plain(frame: Frame, count: int) -> None:
    """The stack has a callable and its arguments, without NULL (Python 3.10)."""
    stack = frame.stack
    base = len(stack) - count - 1
    _run(frame, base, stack[base], stack[base + 1 :], {})


def call_plain_kw(frame: Frame, count: int) -> None:
    """Like `call_plain`, with a tuple of names on top."""
    stack = frame.stack
    base = len(stack) - count - 2
    names = stack[-1]
    args = stack[base + 1 : -1]
    kwargs = dict(zip(names, args[len(args) - len(names) :]))
    _run(frame, base, stack[base], args[: len(args) - len(names)], kwargs)


def call_ex(frame: Frame, flags: int) -> None:
    """The stack has NULL, a callable, a tuple of arguments, and perhaps a dictionary."""
    _call_with_containers(frame, flags, 2)


def call_ex_plain(frame: Frame, flags: int) -> None:
    _call_with_containers(frame, flags, 1)


def call_ex_null_last(frame: Frame, flags: int) -> None:
    """Like `call_ex`, with NULL above the callable."""
    _call_with_containers(frame, flags, 2, callee_first=True)


def _call_with_containers(frame: Frame, flags: int, below: int, callee_first: bool = False) -> None:
    stack = frame.stack
    has_keywords = flags & 1
    base = len(stack) - below - 1 - has_keywords
    callee = stack[base + below - 1] if not callee_first else stack[base]
    given = stack[base + below]
    kwargs = frame.capture.items_of(stack[-1]) if has_keywords else {}
    args = frame.capture.elements_of(given)
    _run(frame, base, callee, args, dict(kwargs))


def _run(frame: Frame, base: int, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    frame.result_base = base
    result = calls.call(frame.capture, callee, args, kwargs, tail=True)
    frame.keyword_names = ()
    frame.call_start = None
    del frame.stack[base:]
    frame.stack.append(result)
