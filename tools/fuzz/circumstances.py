"""The circumstances of a compared call, and conditions on them for known_differences.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_LARGE = 1e18  # its square overflows float32, and sums of such numbers overflow int64


@dataclass(frozen=True)
class Circumstances:
    """Facts about the arguments of a call, including those in lists."""

    dtypes: tuple[str, ...]
    arrays: tuple[Any, ...]
    layouts: tuple[str, ...]
    numbers: tuple[Any, ...]
    in_place: bool


Condition = Callable[[Circumstances], bool]


@dataclass(frozen=True)
class Known:
    """A difference that is intended, for the operators and kinds of difference that match when `when` holds.

    `operators` and `kinds` are regular expressions for the whole name, `details` is one to find in the
    description of the difference.
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


def has_dtype(dtype: str) -> Condition:
    return lambda facts: dtype in facts.dtypes


def has_mixed_dtypes(facts: Circumstances) -> bool:
    return len(set(facts.dtypes)) > 1


def has_reduced_precision(facts: Circumstances) -> bool:
    return any(dtype in ("float16", "bfloat16") for dtype in facts.dtypes)


def is_extreme(facts: Circumstances) -> bool:
    """Whether a value is not finite, or so large that intermediate results overflow."""
    return beyond(200.0 if "float16" in facts.dtypes else _LARGE)(facts)


def has_tiny_elements(facts: Circumstances) -> bool:
    """Whether an element is so small, but not zero, that a quotient by it drowns everything else."""
    return any(
        array.dtype.kind in "fc" and bool(np.any((array != 0) & (np.abs(array) < 1e-6)))
        for array in facts.arrays
    )


def has_special_elements(facts: Circumstances) -> bool:
    """Whether floating elements are zero, or several equal, or far apart: matrices of such are singular."""

    def found(array: Any) -> bool:
        if array.dtype.kind not in "fc" or array.size < 2:
            return bool(array.dtype.kind in "fc" and array.size and not array.all())
        sizes = np.abs(array)
        return np.unique(array).size < array.size or sizes.min() == 0 or sizes.max() >= 30

    return any(found(array) for array in facts.arrays)


def has_layout(*layouts: str) -> Condition:
    return lambda facts: any(layout in layouts for layout in facts.layouts)


def all_of(*conditions: Condition) -> Condition:
    return lambda facts: all(condition(facts) for condition in conditions)


def any_of(*conditions: Condition) -> Condition:
    return lambda facts: any(condition(facts) for condition in conditions)


def is_expanded(facts: Circumstances) -> bool:
    """Whether a tensor is expanded: its rows are then equal, and matrices singular."""
    return "expanded" in facts.layouts


def beyond(limit: float) -> Condition:
    """The condition that an element or number reaches `limit` in absolute value, or is not finite."""

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
