"""Compares two outputs: words must be equal, numbers must agree to rounding."""

from __future__ import annotations

import math
import re

RELATIVE, ABSOLUTE = 1e-3, 1e-5  # after some steps of training in single precision
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+|\bnan\b|\binf\b")


def first_difference(expected: str, got: str) -> str | None:
    """The first line that differs, as one line of text; None if all are equal."""
    left, right = expected.splitlines(), got.splitlines()
    for first, second in zip(left, right):
        if not lines_agree(first, second):
            return f"expected '{first}', got '{second}'"
    if len(left) != len(right):
        return f"expected {len(left)} lines, got {len(right)}"
    return None


def lines_agree(first: str, second: str) -> bool:
    if NUMBER.sub("#", first) != NUMBER.sub("#", second):
        return False
    pairs = zip(NUMBER.findall(first), NUMBER.findall(second))
    return all(
        one == other or math.isclose(float(one), float(other), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        for one, other in pairs
    )
