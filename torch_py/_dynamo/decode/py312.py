"""The byte code of Python 3.12."""

from __future__ import annotations

import opcode
from types import CodeType
from typing import Any

from torch_py._dynamo.decode import common
from torch_py._dynamo.decode.instructions import COMPARE, Program, program_of

# Jumps: the canonical name, and how many bytes after the counted target it lands.
FORWARD = {
    "JUMP_FORWARD": ("jump", 0),
    "POP_JUMP_IF_FALSE": ("jump_if_false", 0),
    "POP_JUMP_IF_TRUE": ("jump_if_true", 0),
    "POP_JUMP_IF_NONE": ("jump_if_none", 0),
    "POP_JUMP_IF_NOT_NONE": ("jump_if_not_none", 0),
    "SEND": ("send_kept", 0),
    "FOR_ITER": ("for_iter", 2),  # END_FOR is skipped
}
BACKWARD = ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
INTRINSICS = {3: "stop_iteration_error", 5: "unary_plus", 6: "list_to_tuple"}


def translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name == "LOAD_ATTR":
        return ("load_method" if argument & 1 else "load_attr"), code.co_names[argument >> 1]
    if name in FORWARD:
        op, further = FORWARD[name]
        return op, end + 2 * argument + further
    if name in BACKWARD:
        return "jump", end - 2 * argument

    if name == "LOAD_GLOBAL":
        return "load_global", (code.co_names[argument >> 1], argument & 1)
    if name == "LOAD_SUPER_ATTR":
        return "load_super_attr", (code.co_names[argument >> 2], bool(argument & 1))
    if name == "COMPARE_OP":
        return "compare", COMPARE[opcode.cmp_op[argument >> 4]]
    if name == "CALL_INTRINSIC_1" and argument in INTRINSICS:
        return INTRINSICS[argument], argument
    return common.translate(code, name, argument)


def decode(code: CodeType) -> Program:
    return program_of(code, opcode._inline_cache_entries, translate)  # type: ignore[attr-defined]
