"""The byte code of Python 3.13: NULL, or the object of a method, is above the callable."""

from __future__ import annotations

import opcode
from types import CodeType
from typing import Any

from torch_py._dynamo.decode import py312
from torch_py._dynamo.decode.instructions import COMPARE, Program, program_of

_CHANGED = {
    "CALL": "call_null_last",
    "CALL_KW": "call_kw",
    "CALL_FUNCTION_EX": "call_ex_null_last",
    "MAKE_FUNCTION": "make_plain_function",
    "EXIT_INIT_CHECK": "unsupported",
}
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": "load_fast_pair",
    "STORE_FAST_STORE_FAST": "store_fast_pair",
    "STORE_FAST_LOAD_FAST": "store_fast_load_fast",
}


def _translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _CHANGED:
        return _CHANGED[name], argument
    if name in _PAIRS:
        return _PAIRS[name], (argument >> 4, argument & 15)
    if name == "LOAD_ATTR":
        return ("load_attr_then_null" if argument & 1 else "load_attr"), code.co_names[argument >> 1]

    if name == "LOAD_GLOBAL" and argument & 1:
        return "load_global_then_null", code.co_names[argument >> 1]
    if name == "LOAD_SUPER_ATTR" and argument & 1:
        return "load_super_attr_then_null", code.co_names[argument >> 2]
    if name == "COMPARE_OP":
        return ("compare_as_bool" if argument & 16 else "compare"), COMPARE[opcode.cmp_op[argument >> 5]]
    if name == "FOR_ITER":  # END_FOR and POP_TOP are skipped
        return "for_iter", end + 2 * argument + 4
    return py312.translate(code, name, argument, end)


def decode(code: CodeType) -> Program:
    by_name: dict[str, int] = opcode._inline_cache_entries  # type: ignore[attr-defined]
    return program_of(code, [by_name.get(name, 0) for name in opcode.opname], _translate)
