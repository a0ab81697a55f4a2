"""Functions and classes: what the program calls, and what it defines while it runs."""

from __future__ import annotations

import builtins
from types import CellType, FunctionType
from typing import Any

from torch_py._dynamo import calls
from torch_py._dynamo.frame import Frame, call_parts
from torch_py._dynamo.handlers import push

# Calls: what is on the stack, as a callable and its arguments


def call(frame: Frame, count: int) -> None:
    _run(frame, *call_parts(frame.instruction, frame.stack, frame.keyword_names))


call_null_last = call_kw = call_method = call_function = call_function_kw = call


def call_function_ex(frame: Frame, flags: int) -> None:
    """``f(*args, **kwargs)``: the stack has a tuple or another iterable, and perhaps a dictionary."""
    base, callee, given, named = call_parts(frame.instruction, frame.stack, ())
    kwargs = frame.capture.items_of(named)
    if not all(isinstance(name, str) for name in kwargs):
        raise TypeError("keywords must be strings")
    args = frame.capture.elements_of(given)
    _run(frame, base, callee, args, kwargs)


call_function_ex_plain = call_function_ex_null_last = call_function_ex


def _run(frame: Frame, base: int, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    frame.result_base = base
    frame.stack[base:] = [calls.call(frame.capture, callee, args, kwargs, tail=True)]


# Definitions


_PARTS = {1: "__defaults__", 2: "__kwdefaults__", 4: "__annotations__"}


def make_function(frame: Frame, flags: int) -> None:
    """The flags say what is below the code: cells of free variables (8) and other parts. Python 3.13 sets all
    of them afterwards."""
    code = frame.stack.pop()
    values = {flag: frame.stack.pop() for flag in (8, 4, 2, 1) if flags & flag}
    cells = values.pop(8, None) or tuple(CellType() for _ in code.co_freevars) or None
    function = FunctionType(code, frame.globals, code.co_name, closure=cells)
    function.__module__ = frame.globals.get("__name__")
    if hasattr(code, "co_qualname"):
        function.__qualname__ = code.co_qualname

    for flag, value in values.items():
        _set_part(function, flag, value)
    frame.stack.append(frame.capture.made(function))


def _set_part(function: FunctionType, flag: int, value: Any) -> None:
    if flag == 4 and isinstance(value, tuple):
        value = dict(zip(value[::2], value[1::2]))
    setattr(function, _PARTS[flag], value)


def make_named_function(frame: Frame, flags: int) -> None:
    """Like `make_function`, with the qualified name on top (Python 3.10)."""
    name = frame.stack.pop()
    make_function(frame, flags)
    frame.stack[-1].__qualname__ = name


def set_function_attribute(frame: Frame, flag: int) -> None:
    value, function = frame.stack[-2:]
    if flag == 8:  # the first one
        frame.stack[-2:] = [value, function.__code__]
        make_function(frame, flag)
    else:
        _set_part(function, flag, value)
        frame.stack[-2:] = [function]


load_build_class = push(lambda frame, _: builtins.__build_class__)
