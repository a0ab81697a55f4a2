"""The byte code of Python 3.10: exceptions go to blocks, and jumps count instructions."""

from __future__ import annotations

import opcode
from types import CodeType
from typing import Any

from torch_py._dynamo.decode import common
from torch_py._dynamo.decode.instructions import (
    BINARY,
    COMPARE,
    GENERATOR,
    Instruction,
    Program,
    instructions_of,
    parameter_names,
)

_CHANGED = {
    "CALL_FUNCTION": "call_plain",
    "CALL_FUNCTION_KW": "call_plain_kw",
    "CALL_METHOD": "call",
    "CALL_FUNCTION_EX": "call_ex_plain",
    "MAKE_FUNCTION": "make_named_function",
    "MATCH_KEYS": "match_keys_with_flag",
    "MATCH_CLASS": "match_class_with_flag",
    "ROT_N": "rotate",
    "DUP_TOP_TWO": "duplicate_two",
    "POP_BLOCK": "pop_block",
    "POP_EXCEPT": "pop_except_block",
    "RERAISE": "reraise_triple",
    "WITH_EXCEPT_START": "with_except_start_triple",
    "YIELD_FROM": "yield_from",
}
_WITH_NUMBER = {
    "ROT_TWO": ("swap", 2),
    "ROT_THREE": ("rotate", 3),
    "ROT_FOUR": ("rotate", 4),
    "DUP_TOP": ("copy", 1),
}
_ABSOLUTE = {
    "JUMP_ABSOLUTE": "jump",
    "POP_JUMP_IF_FALSE": "jump_if_false",
    "POP_JUMP_IF_TRUE": "jump_if_true",
    "JUMP_IF_FALSE_OR_POP": "jump_if_false_or_pop",
    "JUMP_IF_TRUE_OR_POP": "jump_if_true_or_pop",
    "JUMP_IF_NOT_EXC_MATCH": "jump_if_not_exc_match",
}
_RELATIVE = {
    "JUMP_FORWARD": "jump",
    "FOR_ITER": "for_iter",
    "SETUP_FINALLY": "setup_finally",
    "SETUP_WITH": "setup_with",
}
# Instructions of cells, which are numbered after the local variables.
_CELLS = {
    "LOAD_CLOSURE": "load_slot",
    "LOAD_DEREF": "load_deref",
    "STORE_DEREF": "store_deref",
    "DELETE_DEREF": "delete_deref",
    "LOAD_CLASSDEREF": "load_classderef",
}
_NAMES = (
    "ADD AND FLOOR_DIVIDE LSHIFT MATRIX_MULTIPLY MULTIPLY MODULO OR POWER RSHIFT SUBTRACT TRUE_DIVIDE XOR"
).split()
_BINARY = {f"BINARY_{name}": BINARY[i] for i, name in enumerate(_NAMES)}
_BINARY.update({f"INPLACE_{name}": BINARY[i + 13] for i, name in enumerate(_NAMES)})


def _translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _CHANGED:
        return _CHANGED[name], argument
    if name in _WITH_NUMBER:
        return _WITH_NUMBER[name]
    if name in _CELLS:
        return _CELLS[name], code.co_nlocals + argument
    if name in _ABSOLUTE:
        return _ABSOLUTE[name], 2 * argument
    if name in _RELATIVE:
        return _RELATIVE[name], end + 2 * argument

    if name == "LOAD_GLOBAL":
        return "load_global", (code.co_names[argument], 0)
    if name in _BINARY:
        return "binary", _BINARY[name]
    if name == "COMPARE_OP":
        return "compare", COMPARE[opcode.cmp_op[argument]]
    return common.translate(code, name, argument)


def _beginning(code: CodeType) -> list[Instruction]:
    """What CPython does before the first instruction: cells are made, and generators returned."""
    steps: list[tuple[str, Any]] = []
    for position, name in enumerate(code.co_cellvars):
        argument = code.co_varnames.index(name) if name in parameter_names(code) else None
        steps.append(("make_cell_of", (code.co_nlocals + position, argument)))
    if code.co_flags & GENERATOR:
        steps.append(("return_generator", None))
    return [Instruction(op, arg, number - len(steps), 0, "") for number, (op, arg) in enumerate(steps)]


def decode(code: CodeType) -> Program:
    instructions = [*_beginning(code), *instructions_of(code, [], _translate)]
    names = code.co_varnames + code.co_cellvars + code.co_freevars
    return Program(code, instructions, [], names, uses_blocks=True)
