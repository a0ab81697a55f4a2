"""The functions behind Python's operators, by the numbers and names that byte code has for them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

_NAMES = "add and floordiv lshift matmul mul mod or pow rshift sub truediv xor".split()
# The argument of BINARY_OP (3.11 and later); those from 13 on change the left side in place.
BINARY: tuple[Callable[[Any, Any], Any], ...] = tuple(
    getattr(operator, f"__{prefix}{name}__") for prefix in ("", "i") for name in _NAMES
)

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}

UNARY: dict[str, Callable[[Any], Any]] = {
    "UNARY_POSITIVE": operator.pos,
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_NOT": operator.not_,
    "UNARY_INVERT": operator.invert,
}
