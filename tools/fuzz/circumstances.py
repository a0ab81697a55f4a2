"""The circumstances of a compared call, and when a row of known_differences.py applies to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_LARGE = 1e18  # its square is beyond float32; sums of such numbers are beyond int64


@dataclass(frozen=True)
class Circumstances:
    """The arguments, those in lists too."""

    dtypes: tuple[str, ...]
    arrays: tuple[Any, ...]
    layouts: tuple[str, ...]
    numbers: tuple[Any, ...]
    in_place: bool


Condition = Callable[[Circumstances], bool]


@dataclass(frozen=True)
class Known:
    """A difference that is intended, for the operators and kinds of difference that match when `when` holds.

    `operators` and `kinds` are regular expressions for the whole name.

    `details` are words of what was found.
    """

    operators: str
    kinds: str
    when: Condition
    reason: str
    details: str = ""

    def covers(self, operator: str, found: str, facts: Circumstances) -> bool:
        kind, _, details = found.partition(":")
        named = (
            re.fullmatch(self.operators, operator)
            and re.fullmatch(self.kinds, kind)
            and re.search(self.details, details)
        )
        return bool(named) and self.when(facts)


def always(facts: Circumstances) -> bool:
    return True


def has_empty(facts: Circumstances) -> bool:
    return any(array.size == 0 for array in facts.arrays)


def has_scalar_tensor(facts: Circumstances) -> bool:
    return any(array.ndim == 0 for array in facts.arrays)


def has_complex(facts: Circumstances) -> bool:
    return any(dtype.startswith("complex") for dtype in facts.dtypes) or any(
        isinstance(number, complex) for number in facts.numbers
    )


def has_integers(facts: Circumstances) -> bool:
    return any("int" in dtype or dtype == "bool" for dtype in facts.dtypes)


def has_bool(facts: Circumstances) -> bool:
    return "bool" in facts.dtypes


def is_mixed(facts: Circumstances) -> bool:
    """Of tensors of several dtypes."""
    return len(set(facts.dtypes)) > 1


def is_reduced(facts: Circumstances) -> bool:
    return any(dtype in ("float16", "bfloat16") for dtype in facts.dtypes)


def is_extreme(facts: Circumstances) -> bool:
    """Not finite, or so large that intermediate results overflow."""
    return beyond(200.0 if "float16" in facts.dtypes else _LARGE)(facts)


def has_layout(*layouts: str) -> Condition:
    return lambda facts: any(layout in layouts for layout in facts.layouts)


def all_of(*conditions: Condition) -> Condition:
    return lambda facts: all(condition(facts) for condition in conditions)


def any_of(*conditions: Condition) -> Condition:
    return lambda facts: any(condition(facts) for condition in conditions)


def in_place(facts: Circumstances) -> bool:
    return facts.in_place


def is_expanded(facts: Circumstances) -> bool:
    """Rows are equal: matrices are singular."""
    return "expanded" in facts.layouts


def beyond(limit: float) -> Condition:
    """Whether an element or a number is that large, or not finite."""

    def found(facts: Circumstances) -> bool:
        with np.errstate(all="ignore"):
            arrays = any(
                array.size and array.dtype != bool and not np.all(np.abs(array.astype(complex)) < limit)
                for array in facts.arrays
            )
        return arrays or any(not abs(number) < limit for number in facts.numbers)

    return found


def has_numbers(facts: Circumstances) -> bool:
    return bool(facts.numbers)


def has_number_outside(low: float, high: float) -> Condition:
    return lambda facts: any(
        not isinstance(number, complex) and not low <= number <= high for number in facts.numbers
    )
