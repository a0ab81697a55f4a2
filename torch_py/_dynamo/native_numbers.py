"""Numbers in native code: it may look at the bits of integers that vary, which are those of stand-ins, and
rounds decimals by the rules of the thread."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from torch_py._shapes.numbers import VARYING, SymInt, SymSize

if TYPE_CHECKING:
    from torch_py._dynamo.varying import Varying

# Functions of C that do not look at the bits of integers: they store them, or use their methods.
_KEEPING = frozenset({tuple, list, set, dict, slice, zip, math.prod})
_KEEPING_METHODS = frozenset({"append", "extend", "add", "update", "setdefault", "__setitem__"})


def call_with_numbers(varying: Varying, callee: Any, args: Any, kwargs: Any) -> Any:
    """Calls a function of C with numbers that may vary."""
    if callee is math.sqrt and len(args) == 1 and type(args[0]) is SymInt:
        return args[0] ** 0.5
    owner = getattr(callee, "__self__", None)
    if type(owner) is slice:
        callee = getattr(varying.fixed(owner), callee.__name__)
    # Reals among the factors would take integers for their bits.
    if not keeps_sizes(callee) or (callee is math.prod and _has_reals(args)):
        args = [all_fixed(varying, value) for value in args]
        kwargs = {name: varying.fixed(value) for name, value in kwargs.items()}
    return callee(*args, **kwargs)


def _has_reals(args: Any) -> bool:
    items = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return any(isinstance(item, float) for item in items)


def all_fixed(varying: Varying, value: Any) -> Any:
    """A number, or a list of numbers, as in the example."""
    return type(value)(map(varying.fixed, value)) if has_varying(value) else varying.fixed(value)


def has_varying(value: Any) -> bool:
    """Whether a list has numbers that vary."""
    return type(value) in (list, tuple, SymSize) and any(type(item) in VARYING for item in value)


def keeps_sizes(callee: Any) -> bool:
    """Whether a function of C may be given sizes that vary."""
    if getattr(callee, "__module__", None) == "_operator":
        return callee is not operator.index
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, (list, dict, set)):
        return callee.__name__ in _KEEPING_METHODS
    return isinstance(callee, Hashable) and callee in _KEEPING


def is_decimal(kind: type) -> bool:
    module = sys.modules.get("decimal")
    return module is not None and issubclass(kind, (module.Decimal, module.Context))


def decimals() -> tuple[Any, ...]:
    """How decimals are rounded, and what they raise."""
    context = sys.modules["decimal"].getcontext()
    rules = context.prec, context.rounding, context.Emin, context.Emax, context.clamp, context.capitals
    return *rules, *(bool(trap) for trap in context.traps.values())
