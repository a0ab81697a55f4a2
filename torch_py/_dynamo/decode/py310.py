"""The byte code of Python 3.10: exceptions go to blocks, and jumps count instructions."""

from __future__ import annotations

import opcode
from types import CodeType
from typing import Any

from torch_py._dynamo.decode import py311
from torch_py._dynamo.decode.instructions import (
    BINARY,
    GENERATOR,
    Instruction,
    Program,
    Translate,
    instructions_of,
    parameter_names,
)

_CHANGED = {
    "CALL_FUNCTION_EX": "call_function_ex_plain",
    "MAKE_FUNCTION": "make_named_function",
    "MATCH_KEYS": "match_keys_with_flag",
    "MATCH_CLASS": "match_class_with_flag",
    "POP_EXCEPT": "pop_except_block",
    "RERAISE": "reraise_triple",
    "WITH_EXCEPT_START": "with_except_start_triple",
}
_WITH_NUMBER = {
    "ROT_TWO": ("swap", 2),
    "ROT_THREE": ("rotate", 3),
    "ROT_FOUR": ("rotate", 4),
    "DUP_TOP": ("copy", 1),
}
# Instructions of cells, which are numbered after the local variables.
_CELLS = frozenset(opcode.opname[number] for number in opcode.hasfree)
_NAMES = (
    "ADD AND FLOOR_DIVIDE LSHIFT MATRIX_MULTIPLY MULTIPLY MODULO OR POWER RSHIFT SUBTRACT TRUE_DIVIDE XOR"
).split()
_BINARY = {f"BINARY_{name}": BINARY[i] for i, name in enumerate(_NAMES)}
_BINARY.update({f"INPLACE_{name}": BINARY[i + 13] for i, name in enumerate(_NAMES)})


def translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _WITH_NUMBER:
        return _WITH_NUMBER[name]
    if name in _BINARY:
        return "binary", _BINARY[name]

    if name == "LOAD_GLOBAL":
        argument <<= 1  # a bit for NULL, which later versions have
    if name in _CELLS:
        argument += code.co_nlocals
    op, found = py311.translate(code, name, argument, end)
    return _CHANGED.get(name, op), found


def _beginning(code: CodeType) -> list[Instruction]:
    """What CPython does before the first instruction: cells are made, and generators returned."""
    steps: list[tuple[str, Any]] = []
    for position, name in enumerate(code.co_cellvars):
        argument = code.co_varnames.index(name) if name in parameter_names(code) else None
        steps.append(("make_cell_of", (code.co_nlocals + position, argument)))
    if code.co_flags & GENERATOR:
        steps.append(("return_generator", None))
    return [Instruction(op, arg, number - len(steps), 0, "") for number, (op, arg) in enumerate(steps)]


def program_of(code: CodeType, translate: Translate) -> Program:
    instructions = [*_beginning(code), *instructions_of(code, translate)]
    names = code.co_varnames + code.co_cellvars + code.co_freevars
    return Program(instructions, [], names, uses_blocks=True)
