"""Calls: what is on the stack, as a callable and its arguments."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo import calls
from torch_py._dynamo.call_parts import call_parts
from torch_py._dynamo.frame import Frame


def kw_names(frame: Frame, names: tuple[str, ...]) -> None:
    """The names of the last arguments of the call that follows."""
    frame.call_start = frame.instruction.offset
    frame.keyword_names = names


def call(frame: Frame, count: int) -> None:
    parts = call_parts(frame.instruction, frame.stack, frame.keyword_names)
    _run(frame, *parts)


call_null_last = call_kw = call_plain = call_plain_kw = call


def call_ex(frame: Frame, flags: int) -> None:
    """``f(*args, **kwargs)``: the stack has a tuple or another iterable, and perhaps a dictionary."""
    base, callee, given, named = call_parts(frame.instruction, frame.stack, ())
    kwargs = frame.capture.items_of(named)
    if not all(isinstance(name, str) for name in kwargs):
        raise TypeError("keywords must be strings")
    args = frame.capture.elements_of(given)
    _run(frame, base, callee, args, kwargs)


call_ex_plain = call_ex_null_last = call_ex


def _run(frame: Frame, base: int, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    frame.result_base = base
    result = calls.call(frame.capture, callee, args, kwargs, tail=True)
    frame.keyword_names = ()
    frame.call_start = None
    del frame.stack[base:]
    frame.stack.append(result)
