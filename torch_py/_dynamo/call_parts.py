"""The callable and the arguments that a call finds on the stack.

The callable is next to NULL or the first argument, in an order that depends on the version of Python; it is
alone in calls that are called plain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.frame import NULL

if TYPE_CHECKING:
    from torch_py._dynamo.decode import Instruction

_PLAIN = ("call_function", "call_function_kw", "call_function_ex_plain")
_NULL_LAST = ("call_null_last", "call_kw", "call_function_ex_null_last")


def call_parts(
    instruction: Instruction, stack: list[Any], named: tuple[str, ...]
) -> tuple[int, Any, Any, Any]:
    """How much of the stack is below the call, what an instruction calls, its arguments, and its keywords.

    Those of ``f(*args, **kwargs)`` are as they are given. `named` are the names of the last arguments, if
    those are not on the stack.
    """
    op, count = instruction.op, instruction.arg
    below = 1 if op in _PLAIN else 2
    if op.startswith("call_function_ex"):
        base = len(stack) - below - 1 - (count & 1)
        args = stack[base + below]
        kwargs = stack[-1] if count & 1 else {}
    else:
        if op.endswith("_kw"):
            named, stack = stack[-1], stack[:-1]
        base = len(stack) - count - below
        args = stack[base + below :]
        if below == 2 and stack[base] is not NULL and stack[base + 1] is not NULL:
            args = [stack[base + 1], *args]
        cut = len(args) - len(named)
        args, kwargs = args[:cut], dict(zip(named, args[cut:]))

    callee = stack[base + 1] if stack[base] is NULL else stack[base]
    return base, callee, args, kwargs


def call_operands(op: str, count: int, callee: Callable[..., Any]) -> list[Any]:
    """What a call finds on the stack, for a callable that ignores its arguments."""
    if op in _PLAIN:
        below = [callee]
    else:
        below = [callee, NULL] if op in _NULL_LAST else [NULL, callee]
    if op.startswith("call_function_ex"):
        return [*below, (), *[{}] * (count & 1)]
    return [*below, *[None] * count, *[()] * op.endswith("_kw")]
