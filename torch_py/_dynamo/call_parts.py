"""The callable and the arguments that a call finds on the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from torch_py._dynamo.frame import NULL

if TYPE_CHECKING:
    from torch_py._dynamo.decode import Instruction, Program


class CallParts(NamedTuple):
    """`base` is how much of the stack is below the call."""

    base: int
    callee: Any
    args: list[Any]
    kwargs: dict[str, Any]


def call_parts(
    program: Program, instruction: Instruction, stack: list[Any], named: tuple[str, ...]
) -> CallParts | None:
    """What an instruction calls; None if arguments come from containers that are not plain ones."""
    op, count = instruction.op, instruction.arg
    if op.startswith("call_ex"):
        return _from_containers(op, count, stack)
    if op.endswith("_kw"):
        named, stack = stack[-1], stack[:-1]
    if op in ("call_plain", "call_plain_kw"):
        base = len(stack) - count - 1
        return _parts(base, stack[base], stack[base + 1 :], named)

    base = len(stack) - count - 2
    args = stack[base + 2 :]
    if op == "call":
        if stack[base] is NULL:
            return _parts(base, stack[base + 1], args, named)
        return _parts(base, stack[base], [stack[base + 1], *args], named)
    if stack[base + 1] is not NULL:
        args = [stack[base + 1], *args]
    return _parts(base, stack[base], args, named)


def _parts(base: int, callee: Any, args: list[Any], named: tuple[str, ...]) -> CallParts:
    cut = len(args) - len(named)
    return CallParts(base, callee, args[:cut], dict(zip(named, args[cut:])))


def _from_containers(op: str, flags: int, stack: list[Any]) -> CallParts | None:
    below = 1 if op == "call_ex_plain" else 2
    base = len(stack) - below - 1 - (flags & 1)
    callee = stack[base] if op == "call_ex_null_last" else stack[base + below - 1]
    given = stack[base + below]
    named = stack[-1] if flags & 1 else {}
    if type(given) is not tuple or type(named) is not dict:
        return None
    return CallParts(base, callee, list(given), dict(named))
