"""Prints how reductions begin and how they combine two values."""

from __future__ import annotations

from typing import Any

from torch_py._inductor.dtypes import CPP, TRUTH
from torch_py._inductor.print_expr import literal, unwrapped


def first_value(kind: str, dtype: Any) -> str:
    """What changes nothing when it is combined with another value."""
    if kind in ("maximum", "minimum") and dtype != TRUTH:
        if dtype.is_floating_point:
            return literal(float("-inf") if kind == "maximum" else float("inf"), dtype)
        bits = dtype.itemsize * 8
        low, high = (
            (0, 2**bits - 1) if CPP[dtype].startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )
        return literal(low if kind == "maximum" else high, dtype)
    return literal(1 if kind in ("product", "all", "minimum") else 0, dtype)


def combination(kind: str, dtype: Any, a: str, b: str) -> str:
    """Two values as one."""
    if kind in ("any", "all") or (dtype == TRUTH and kind in ("maximum", "minimum")):
        return f"({a} {'|' if kind in ('any', 'maximum') else '&'} {b})"
    if kind == "xor":
        return f"({a} ^ {b})"
    if kind in ("maximum", "minimum"):
        return f"at::vec::{kind}({a}, {unwrapped(b)})"
    if dtype.is_floating_point:
        return f"({a} {'+' if kind == 'sum' else '*'} {b})"
    return f"at::vec::wrapping_{kind}({a}, {unwrapped(b)})"
