"""The byte code of each version of Python: the canonical names and arguments of its instructions.

Python 3.11 has the rules of instructions that mean the same in other versions; 3.10 and 3.12 change some of
them, and 3.13 changes those of 3.12.
"""

from __future__ import annotations

import opcode
import operator
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any

from torch_py._dynamo.decode.instructions import BINARY, COMPARE, UNARY, Translate


def _names(numbers: Iterable[int]) -> list[str]:
    return [opcode.opname[number] for number in numbers]


# Instructions whose argument is an index into co_names, and those with one into co_consts.
_NAMED = frozenset(_names(opcode.hasname))
_CONSTANT = frozenset(_names(opcode.hasconst))
_ABSOLUTE = frozenset(_names(opcode.hasjabs))  # jumps of Python 3.10
# Jumps by canonical names, which do not say where they lead.
_JUMPS = {
    name: re.sub("^POP_|_FORWARD|_BACKWARD|_NO_INTERRUPT|_ABSOLUTE", "", name).lower()
    for name in (*_ABSOLUTE, *_names(opcode.hasjrel))
}


def translate_311(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    """The canonical name and argument of an instruction, also of other versions where these are the same."""
    if name in _JUMPS:
        origin = 0 if name in _ABSOLUTE else end
        return _JUMPS[name], origin + 2 * (-argument if "BACKWARD" in name else argument)

    if name == "LOAD_GLOBAL":
        return "load_global", (code.co_names[argument >> 1], argument & 1)
    if name == "COMPARE_OP":
        return "binary", COMPARE[argument]
    if name == "BINARY_OP":
        return "binary", BINARY[argument]
    if name in UNARY:
        return "unary", UNARY[name]

    if name in _NAMED:
        return name.lower(), code.co_names[argument]
    return name.lower(), code.co_consts[argument] if name in _CONSTANT else argument


# Python 3.10: jumps count instructions

_CHANGED_310 = {
    "CALL_FUNCTION_EX": "call_function_ex_plain",
    "MAKE_FUNCTION": "make_named_function",
    "MATCH_KEYS": "match_keys_with_flag",
    "MATCH_CLASS": "match_class_with_flag",
    "POP_EXCEPT": "pop_except_block",
    "RERAISE": "reraise_triple",
    "WITH_EXCEPT_START": "with_except_start_triple",
}
_OPERATORS = (
    "ADD AND FLOOR_DIVIDE LSHIFT MATRIX_MULTIPLY MULTIPLY MODULO OR POWER RSHIFT SUBTRACT TRUE_DIVIDE XOR"
).split()
_REPLACED_310 = {
    "ROT_TWO": ("swap", 2),
    "ROT_THREE": ("rotate", 3),
    "ROT_FOUR": ("rotate", 4),
    "DUP_TOP": ("copy", 1),
    **{f"BINARY_{name}": ("binary", BINARY[i]) for i, name in enumerate(_OPERATORS)},
    **{f"INPLACE_{name}": ("binary", BINARY[i + 13]) for i, name in enumerate(_OPERATORS)},
}
# Instructions of cells, which are numbered after the local variables.
_CELLS = frozenset(_names(opcode.hasfree))


def translate_310(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _REPLACED_310:
        return _REPLACED_310[name]
    if name == "LOAD_GLOBAL":
        argument <<= 1  # a bit for NULL, which later versions have
    if name in _CELLS:
        argument += code.co_nlocals
    op, found = translate_311(code, name, argument, end)
    return _CHANGED_310.get(name, op), found


# Python 3.12

_INTRINSICS: dict[int, tuple[str, Any]] = {
    3: ("nop", None),  # of StopIteration, which InterpretedGenerator replaces
    5: ("unary", operator.pos),
    6: ("list_to_tuple", None),
}


def translate_312(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name == "LOAD_ATTR":
        return ("load_method" if argument & 1 else "load_attr"), code.co_names[argument >> 1]
    if name == "LOAD_SUPER_ATTR":
        return "load_super_attr", (code.co_names[argument >> 2], bool(argument & 1))
    if name == "CALL_INTRINSIC_1" and argument in _INTRINSICS:
        return _INTRINSICS[argument]

    if name == "COMPARE_OP":
        argument >>= 4
    if name == "FOR_ITER":
        end += 2  # END_FOR is skipped
    op, found = translate_311(code, name, argument, end)
    return ("send_kept" if op == "send" else op), found


# Python 3.13: NULL, or the object of a method, is above the callable

_CHANGED_313 = {
    "CALL": "call_null_last",
    "CALL_FUNCTION_EX": "call_function_ex_null_last",
}
_PAIRS = ("LOAD_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
_FORMATS = {"FORMAT_SIMPLE": 0, "FORMAT_WITH_SPEC": 4}


def translate_313(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _CHANGED_313:
        return _CHANGED_313[name], argument
    if name in _PAIRS:
        return name.lower(), (argument >> 4, argument & 15)
    if name in _FORMATS:
        return "format_value", _FORMATS[name]
    if name == "COMPARE_OP":
        return ("compare_as_bool" if argument & 16 else "binary"), COMPARE[argument >> 5]
    if name == "FOR_ITER":
        end += 2  # POP_TOP is skipped, too
    return translate_312(code, name, argument, end)


TRANSLATE: dict[int, Translate] = {10: translate_310, 11: translate_311, 12: translate_312, 13: translate_313}
