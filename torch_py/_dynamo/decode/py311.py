"""The byte code of Python 3.11. Instructions that mean the same in other versions have their rules here."""

from __future__ import annotations

import opcode
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any

from torch_py._dynamo.decode.instructions import BINARY, COMPARE, UNARY


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


def translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    """The canonical name and argument of an instruction."""
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
