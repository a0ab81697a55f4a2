"""What the instructions do: each public function of these modules handles the instruction of its name.

The names are those that `decode` gives the instructions. Those without a function are `unsupported`.
"""

from __future__ import annotations

import importlib
import opcode
from collections.abc import Callable
from types import FunctionType
from typing import Any

Handler = Callable[[Any, Any], Any]

_PARTS = "control functions names operators".split()


def all_handlers() -> dict[str, Any]:
    """The handlers by the names of their instructions."""
    found: dict[str, Any] = {}
    for part in _PARTS:
        module = importlib.import_module(f"{__name__}.{part}")
        for name, value in vars(module).items():
            is_own = isinstance(value, FunctionType) and value.__module__ in (__name__, module.__name__)
            if is_own and not name.startswith("_") and name not in globals():
                found[name] = value

    unsupported = found.pop("unsupported")
    return {**dict.fromkeys(map(str.lower, opcode.opname), unsupported), **found}


# Forms that many handlers have


def push(value: Callable[[Any, Any], Any]) -> Handler:
    """Pushes what a function of the frame and the argument gives."""

    def handler(frame: Any, arg: Any) -> None:
        frame.stack.append(value(frame, arg))

    return handler


def expression(count: int, function: Callable[..., Any]) -> Handler:
    """Replaces the topmost values by what a function of capture, argument and values returns."""

    def handler(frame: Any, arg: Any) -> None:
        frame.stack[-count:] = [function(frame.capture, arg, *frame.stack[-count:])]

    return handler


def statement(count: int, function: Callable[..., None]) -> Handler:
    """Takes the topmost values for a function of capture, argument and values."""

    def handler(frame: Any, arg: Any) -> None:
        function(frame.capture, arg, *frame.stack[-count:])
        del frame.stack[-count:]

    return handler


def collection(make: Callable[[Any, list[Any]], Any], size: Callable[[int], int] = int) -> Handler:
    """Replaces as many of the topmost values as the argument says by what a function of capture and values
    makes of them."""

    def handler(frame: Any, count: int) -> None:
        start = len(frame.stack) - size(count)
        frame.stack[start:] = [make(frame.capture, frame.stack[start:])]

    return handler


def addition(count: int, function: Callable[..., None]) -> Handler:
    """Adds the topmost values to the container that is as deep as the argument says, by a function of
    capture, container and values."""

    def handler(frame: Any, depth: int) -> None:
        function(frame.capture, frame.stack[-depth - count], *frame.stack[-count:])
        del frame.stack[-count:]

    return handler
