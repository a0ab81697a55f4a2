"""Functions and classes: what the program calls, and what it defines while it runs."""

from __future__ import annotations

import builtins
from types import CellType, FunctionType
from typing import Any

from torch_py._dynamo import calls
from torch_py._dynamo.call_parts import call_parts
from torch_py._dynamo.frame import Frame

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
    result = calls.call(frame.capture, callee, args, kwargs, tail=True)
    frame.stack[base:] = [result]


# Definitions


def make_function(frame: Frame, flags: int) -> None:
    stack = frame.stack
    code = stack.pop()
    closure = stack.pop() if flags & 8 else None
    annotations = stack.pop() if flags & 4 else ()
    keyword_defaults = stack.pop() if flags & 2 else None
    defaults = stack.pop() if flags & 1 else None

    function = FunctionType(code, frame.globals, code.co_name, defaults, closure)
    function.__kwdefaults__ = keyword_defaults
    if annotations:
        function.__annotations__ = dict(zip(annotations[::2], annotations[1::2]))
    function.__module__ = frame.globals.get("__name__")
    if hasattr(code, "co_qualname"):
        function.__qualname__ = code.co_qualname
    stack.append(frame.capture.made(function))


def make_named_function(frame: Frame, flags: int) -> None:
    """Like `make_function`, with the qualified name on top (Python 3.10)."""
    name = frame.stack.pop()
    make_function(frame, flags)
    frame.stack[-1].__qualname__ = name


def make_plain_function(frame: Frame, arg: Any) -> None:
    """Makes a function whose other parts, such as the cells of its free variables, are set one by one."""
    code = frame.stack[-1]
    frame.stack[-1:] = [tuple(CellType() for _ in code.co_freevars), code]
    make_function(frame, 8)


_ATTRIBUTES = {1: "__defaults__", 2: "__kwdefaults__", 4: "__annotations__"}


def set_function_attribute(frame: Frame, flag: int) -> None:
    value, function = frame.stack[-2:]
    if flag == 8:  # the first one
        frame.stack[-2:] = [value, function.__code__]
        make_function(frame, flag)
        return
    if flag == 4 and isinstance(value, tuple):
        value = dict(zip(value[::2], value[1::2]))
    setattr(function, _ATTRIBUTES[flag], value)
    frame.stack[-2:] = [function]


def load_build_class(frame: Frame, arg: Any) -> None:
    frame.stack.append(builtins.__build_class__)
