"""Questions about sizes that may be symbolic. In torch_py sizes are numbers, so that every question has an
answer."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = [
    "DimDynamic",
    "GuardOnDataDependentSymNode",
    "RelaxedUnspecConstraint",
    "StatelessSymbolicContext",
    "StrictMinMaxConstraint",
    "compute_unbacked_bindings",
    "free_symbols",
    "free_unbacked_symbols",
    "guard_or_false",
    "guard_or_true",
    "guard_size_oblivious",
    "has_free_symbols",
    "has_free_unbacked_symbols",
    "hint_int",
    "is_concrete_bool",
    "is_concrete_float",
    "is_concrete_int",
    "is_symbolic",
    "optimization_hint",
    "statically_known_false",
    "statically_known_true",
    "sym_and",
    "sym_eq",
    "sym_or",
]


class GuardOnDataDependentSymNode(RuntimeError):
    """A decision depends on a size that is not known. Never raised here."""


class DimDynamic(enum.Enum):
    """How a dimension is to be treated: as varying, as whatever the first example shows, or as fixed."""

    DYNAMIC = 0
    DUCK = 1
    STATIC = 2
    SIZE_LIKE_UNBACKED = 3
    INFER_STRIDE = 4
    UNBACKED = 5
    OBLIVIOUS_SIZE = 6


@dataclass(frozen=True)
class RelaxedUnspecConstraint:
    """A dimension that must not be fixed to one number."""

    warn_only: bool


@dataclass(frozen=True)
class StrictMinMaxConstraint:
    """A dimension within a range."""

    warn_only: bool
    vr: Any


@dataclass(frozen=True)
class StatelessSymbolicContext:
    """What a program says about the dimensions of a tensor."""

    dynamic_sizes: Any
    dynamic_strides: Any = None
    constraint_sizes: Any = None
    constraint_strides: Any = None
    specialize_on: Any = None
    view_base_context: Any = None


def guard_size_oblivious(expr: Any) -> bool:
    """Decides a condition on sizes."""
    return bool(expr)


def guard_or_false(a: Any) -> bool:
    """Decides a condition; False if it cannot be decided, which does not happen here."""
    return bool(a)


def guard_or_true(a: Any) -> bool:
    """Decides a condition; True if it cannot be decided, which does not happen here."""
    return bool(a)


def statically_known_true(x: Any) -> bool:
    """Whether a condition holds for all sizes that may occur."""
    return bool(x)


def statically_known_false(x: Any) -> bool:
    """Whether a condition holds for none of the sizes that may occur."""
    return not x


def sym_and(*conditions: Any) -> bool:
    return all(conditions)


def sym_or(*conditions: Any) -> bool:
    return any(conditions)


def sym_eq(x: Any, y: Any) -> bool:
    """Whether two sizes, or two sequences of sizes, are equal."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(map(sym_eq, x, y))
    return bool(x == y)


def hint_int(a: Any, fallback: int | None = None) -> int:
    """A size as a number."""
    return int(a)


def optimization_hint(a: Any, fallback: int | None = None) -> int:
    """A size as a number, or an example of it, on which to base a decision about speed."""
    return int(a)


def is_concrete_int(a: Any) -> bool:
    return isinstance(a, int)


def is_concrete_bool(a: Any) -> bool:
    return isinstance(a, bool)


def is_concrete_float(a: Any) -> bool:
    return isinstance(a, float)


def is_symbolic(val: Any) -> bool:
    return False


def free_symbols(val: Any) -> set[Any]:
    """The symbols in a size, tensor or node: none."""
    return set()


free_unbacked_symbols = free_symbols


def has_free_symbols(val: Any) -> bool:
    return False


has_free_unbacked_symbols = has_free_symbols


def compute_unbacked_bindings(
    shape_env: Any, example_value: Any, old_example_value: Any = None, peek: bool = False
) -> dict[Any, Any]:
    """Where in a value sizes are introduced that depend on data: nowhere."""
    return {}


__getattr__ = _lacking(__name__)
