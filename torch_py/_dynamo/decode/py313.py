"""The byte code of Python 3.13: NULL, or the object of a method, is above the callable."""

from __future__ import annotations

from types import CodeType
from typing import Any

from torch_py._dynamo.decode import py312
from torch_py._dynamo.decode.instructions import COMPARE

_CHANGED = {
    "CALL": "call_null_last",
    "CALL_FUNCTION_EX": "call_function_ex_null_last",
}
_PAIRS = ("LOAD_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
_FORMATS = {"FORMAT_SIMPLE": 0, "FORMAT_WITH_SPEC": 4}


def translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _CHANGED:
        return _CHANGED[name], argument
    if name in _PAIRS:
        return name.lower(), (argument >> 4, argument & 15)
    if name in _FORMATS:
        return "format_value", _FORMATS[name]
    if name == "COMPARE_OP":
        return ("compare_as_bool" if argument & 16 else "binary"), COMPARE[argument >> 5]
    if name == "FOR_ITER":
        end += 2  # POP_TOP is skipped, too
    return py312.translate(code, name, argument, end)
