"""The types of numbers in traced programs, and functions of such numbers.

Nothing is traced here: numbers are Python's, and the classes have no instances.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

__all__ = [
    "SymBool",
    "SymFloat",
    "SymInt",
    "sym_constrain_range",
    "sym_constrain_range_for_size",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]


class _Symbolic:
    __module__ = "torch_py"

    def __init__(self, node: Any) -> None:
        raise NotImplementedError(
            f"torch.{type(self).__name__}: torch_py does not trace programs yet; sizes are ints"
        )


class SymInt(_Symbolic):
    """The type of integers in traced programs. It has no instances: sizes are Python's integers.

    Args:
        node: what a program computes the number from

    Raises:
        NotImplementedError: always

    Example:
        >>> isinstance(torch.ones(2).shape[0], (int, torch.SymInt))
        True
    """


class SymFloat(_Symbolic):
    """The type of numbers with fractions in traced programs. It has no instances: they are Python's floats.

    Args:
        node: what a program computes the number from

    Raises:
        NotImplementedError: always

    Example:
        >>> isinstance(torch.ones(1).item(), (float, torch.SymFloat))
        True
    """


class SymBool(_Symbolic):
    """The type of conditions in traced programs. It has no instances: conditions are Python's bools.

    Args:
        node: what a program computes the condition from

    Raises:
        NotImplementedError: always

    Example:
        >>> isinstance(torch.ones(2).shape[0] > 1, (bool, torch.SymBool))
        True
    """


def sym_int(a: Any) -> int:
    """`a` rounded towards zero, as by int()."""
    return int(a)


def sym_float(a: Any) -> float:
    return float(a)


def sym_not(a: Any) -> bool:
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger number; a float if one of them is a float."""
    larger = builtins.max(a, b)
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number; a float if one of them is a float."""
    smaller = builtins.min(a, b)
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if `b` is true, else `f`; both have the same type."""
    assert isinstance(b, bool) and type(t) is type(f), (
        f"sym_ite: expected a bool and two values of one type, got {b!r}, {t!r}, {f!r}"
    )
    return t if b else f


def sym_sqrt(a: Any) -> float:
    return math.sqrt(a)


def sym_sum(args: Any) -> Any:
    return builtins.sum(args)


def sym_constrain_range(symb: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raises RuntimeError unless min <= symb <= max."""
    if (min is not None and symb < min) or (max is not None and symb > max):
        raise RuntimeError(f"Invalid value range for {symb} between [{min}, {max}].")


def sym_constrain_range_for_size(symb: Any, *, min: int | None = None, max: int | None = None) -> None:
    sym_constrain_range(symb, min=min, max=max)


# Printed graphs and pickles find them where programs do.
for _name in __all__:
    globals()[_name].__module__ = "torch_py"
