"""Default values of arguments: their text, their value, and the types that accept them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Union

from codegen.dtypes import DTYPE_ALIASES, DTYPES
from codegen.schema.types import BaseType, ListType, OptionalType, Type


@dataclass(frozen=True)
class Symbol:
    """A named constant such as ``contiguous_format``, ``Mean`` or ``long``."""

    name: str


DefaultValue = Union[None, bool, int, float, str, Symbol, "tuple[DefaultValue, ...]"]

_INTEGER = re.compile(r"[+-]?\d+\Z")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?\Z|[+-]?(inf|nan)\Z")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_ESCAPE = re.compile(r"\\(.)")

_REDUCTIONS = ("Mean", "Sum", "None")
_MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_SCALAR_TYPES = (*DTYPES, *DTYPE_ALIASES)
_LAYOUTS = ("strided", "sparse_coo", "Strided", "Sparse")


def parse_default(text: str) -> DefaultValue:
    """The value of a default's text; raises ValueError for any other text."""
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]

    if _INTEGER.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text)

    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(r"\1", text[1:-1])

    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1]
        return tuple(parse_default(part.strip()) for part in inner.split(",")) if inner else ()

    if _NAME.match(text):
        return Symbol(text)

    raise ValueError(text)


def is_default(text: str) -> bool:
    """Whether a default of some type is written like this."""
    try:
        parse_default(text)
    except ValueError:
        return False
    return True


def default_problem(argument_type: Type, text: str) -> str | None:
    """What to write instead of ``text`` for a default of ``argument_type``; None when it fits."""
    try:
        value = parse_default(text)
    except ValueError:
        return expected_default(argument_type)
    overflows = isinstance(value, float) and math.isinf(value) and "inf" not in text  # 1e999
    return None if _fits(argument_type, value) and not overflows else expected_default(argument_type)


def _fits(expected: Type, value: DefaultValue) -> bool:
    if isinstance(expected, OptionalType):
        return value is None or _fits(expected.element, value)
    if isinstance(expected, ListType):
        if isinstance(value, tuple):
            # int[1] takes a list of any length: one int is only a short way to write it.
            right_size = expected.size in (None, 1, len(value)) or not value
            return right_size and all(_fits(expected.element, v) for v in value)
        # A sized list takes one element for all of them.
        return expected.size is not None and _fits(expected.element, value)
    return _fits_base(expected.name, value)


def _fits_base(name: str, value: DefaultValue) -> bool:
    is_integer = isinstance(value, int) and not isinstance(value, bool)

    if is_integer and not -(2**63) <= value < 2**63:  # type: ignore[operator]
        return False

    if name in ("int", "SymInt", "DeviceIndex"):
        return is_integer or (isinstance(value, Symbol) and value.name in _REDUCTIONS)
    if name == "float":
        return is_integer or isinstance(value, float)
    if name == "Scalar":
        return isinstance(value, (bool, int, float))

    if name in ("bool", "SymBool"):
        return isinstance(value, bool)
    if name == "str":
        return isinstance(value, str)

    symbols = {"MemoryFormat": _MEMORY_FORMATS, "ScalarType": _SCALAR_TYPES, "Layout": _LAYOUTS}
    return isinstance(value, Symbol) and value.name in symbols.get(name, ())


_EXPECTED = {
    "int": "an integer such as 0",
    "SymInt": "an integer such as 0",
    "DeviceIndex": "an integer such as 0",
    "float": "a number such as 1.0",
    "Scalar": "a number such as 1",
    "bool": "True or False",
    "SymBool": "True or False",
    "str": "a quoted string such as 'mean'",
    "MemoryFormat": "one of " + ", ".join(_MEMORY_FORMATS),
    "ScalarType": "a dtype such as int64",
    "Layout": "strided",
}


def expected_default(expected: Type) -> str:
    """``write a number such as 1.0``, in words that end a diagnostic."""

    if isinstance(expected, OptionalType):
        inner = expected_default(expected.element).removeprefix("write ")
        return "write None" if inner.startswith(("no default", "None")) else f"write None or {inner}"

    if isinstance(expected, ListType):
        element = expected_default(expected.element).removeprefix("write ")
        if expected.size is not None:
            return f"write a list of {expected.size}, [], or {element}"
        return "write a list such as [0,1] or []"

    assert isinstance(expected, BaseType)
    if expected.name in _EXPECTED:
        return f"write {_EXPECTED[expected.name]}"

    return f"write no default: a {expected.name} has no constants; make it {expected.name}? and write None"
