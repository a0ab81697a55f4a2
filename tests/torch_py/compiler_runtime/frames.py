"""For tests that resume functions: finding instructions, and filling frames."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CellType
from typing import Any

import torch_py as torch

compiler = torch._C._compiler
HAS_BLOCKS = sys.version_info < (3, 11)


def offset_of(function: Callable[..., Any], opname: str, argument: Any = None, number: int = 0) -> int:
    """The offset of an instruction; if it has an argument with a prefix, that of the prefix."""
    begin = -1
    for instruction in dis.get_instructions(function):
        begin = instruction.offset if begin < 0 else begin
        if instruction.opname == "EXTENDED_ARG":
            continue
        if instruction.opname == opname and argument in (None, instruction.argval):
            if number == 0:
                return begin
            number -= 1
        begin = -1
    raise AssertionError(f"{function} has no {opname} {argument}")


def offset_of_line(function: Callable[..., Any], line: int) -> int:
    """The first instruction of a line, counted from that of `def`."""
    first = function.__code__.co_firstlineno
    return next(offset for offset, number in dis.findlinestarts(function.__code__) if number == first + line)


def handler_block(function: Callable[..., Any], number: int = 0, level: int = 0) -> tuple[Any, ...]:
    """The block of the try or with statement of that number, where frames have blocks."""
    if not HAS_BLOCKS:
        return ()
    found = [i for i in dis.get_instructions(function) if i.opname in ("SETUP_FINALLY", "SETUP_WITH")]
    return ((dis.opmap["SETUP_FINALLY"], found[number].argval, level),)


def fast_locals(function: Callable[..., Any], variables: dict[str, Any]) -> tuple[Any, ...]:
    def value(name: str, is_cell: bool) -> Any:
        if not is_cell:
            return variables.get(name, compiler.UNBOUND)
        return CellType(variables[name]) if name in variables else CellType()

    return tuple(value(name, is_cell) for name, is_cell in compiler.frame_slots(function.__code__))


def resume(
    function: Callable[..., Any],
    offset: int,
    stack: tuple[Any, ...] = (),
    blocks: tuple[Any, ...] = (),
    **variables: Any,
) -> Any:
    code = function.__code__
    given = fast_locals(function, variables)
    return compiler.resume(
        code, offset, function.__globals__, None, function.__closure__, given, stack, blocks
    )
