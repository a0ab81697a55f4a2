"""The byte code of Python 3.12."""

from __future__ import annotations

from types import CodeType
from typing import Any

from torch_py._dynamo.decode import py311
from torch_py._dynamo.decode.instructions import Program, program_of

INTRINSICS = {3: "stop_iteration_error", 5: "unary_plus", 6: "list_to_tuple"}


def translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name == "LOAD_ATTR":
        return ("load_method" if argument & 1 else "load_attr"), code.co_names[argument >> 1]
    if name == "LOAD_SUPER_ATTR":
        return "load_super_attr", (code.co_names[argument >> 2], bool(argument & 1))
    if name == "CALL_INTRINSIC_1" and argument in INTRINSICS:
        return INTRINSICS[argument], argument

    if name == "COMPARE_OP":
        argument >>= 4
    if name == "FOR_ITER":
        end += 2  # END_FOR is skipped
    op, found = py311.translate(code, name, argument, end)
    return ("send_kept" if op == "send" else op), found


def decode(code: CodeType) -> Program:
    return program_of(code, translate)
