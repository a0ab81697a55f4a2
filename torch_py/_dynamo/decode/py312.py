"""The byte code of Python 3.12."""

from __future__ import annotations

import operator
from types import CodeType
from typing import Any

from torch_py._dynamo.decode import py311

_INTRINSICS: dict[int, tuple[str, Any]] = {
    3: ("nop", None),  # of StopIteration, which InterpretedGenerator replaces
    5: ("unary", operator.pos),
    6: ("list_to_tuple", None),
}


def translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
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
    op, found = py311.translate(code, name, argument, end)
    return ("send_kept" if op == "send" else op), found
