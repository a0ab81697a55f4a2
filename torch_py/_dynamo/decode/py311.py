"""The byte code of Python 3.11."""

from __future__ import annotations

import opcode
from types import CodeType
from typing import Any

from torch_py._dynamo.decode import common
from torch_py._dynamo.decode.instructions import COMPARE, Program, program_of

# Jumps: the canonical name, and whether the argument counts backwards.
_JUMPS = {
    "JUMP_FORWARD": ("jump", 1),
    "JUMP_BACKWARD": ("jump", -1),
    "JUMP_BACKWARD_NO_INTERRUPT": ("jump", -1),
    "POP_JUMP_FORWARD_IF_FALSE": ("jump_if_false", 1),
    "POP_JUMP_FORWARD_IF_TRUE": ("jump_if_true", 1),
    "POP_JUMP_FORWARD_IF_NONE": ("jump_if_none", 1),
    "POP_JUMP_FORWARD_IF_NOT_NONE": ("jump_if_not_none", 1),
    "POP_JUMP_BACKWARD_IF_FALSE": ("jump_if_false", -1),
    "POP_JUMP_BACKWARD_IF_TRUE": ("jump_if_true", -1),
    "POP_JUMP_BACKWARD_IF_NONE": ("jump_if_none", -1),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": ("jump_if_not_none", -1),
    "JUMP_IF_FALSE_OR_POP": ("jump_if_false_or_pop", 1),
    "JUMP_IF_TRUE_OR_POP": ("jump_if_true_or_pop", 1),
    "FOR_ITER": ("for_iter", 1),
    "SEND": ("send", 1),
}


def _translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _JUMPS:
        op, direction = _JUMPS[name]
        return op, end + 2 * direction * argument
    if name == "LOAD_GLOBAL":
        return "load_global", (code.co_names[argument >> 1], argument & 1)
    if name == "COMPARE_OP":
        return "compare", COMPARE[opcode.cmp_op[argument]]
    return common.translate(code, name, argument)


def decode(code: CodeType) -> Program:
    return program_of(code, opcode._inline_cache_entries, _translate)  # type: ignore[attr-defined]
