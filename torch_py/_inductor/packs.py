"""Which innermost loops are printed over packs, the vectors of aten/vec/pack.h.

The functions of packs are faster than what compilers make of those of one number, but their header takes
long to parse. So packs are for loops with such functions, and for those with numbers of 16 bits, which
compilers do not convert in vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._inductor import config
from torch_py._inductor.compile_cpp import has_packs, pack_words
from torch_py._inductor.indices import Axis, Linear
from torch_py._inductor.ir import FLOAT, SHORT_FLOATS, TRUTH, Cast, Const, Expr, Load, Map, Named, walk
from torch_py._inductor.loops import REDUCTION, Item

_ARITHMETIC = frozenset("+ - * / negative".split())
_COMPARISONS = frozenset("< <= == != > >=".split())
# Words of packs for which compilers do as well.
_PLAIN = frozenset(
    "sqrt rsqrt reciprocal square relu abs floor ceil trunc round maximum minimum copysign".split()
)


def takes_packs(items: Sequence[Item], axis: Axis) -> bool:
    """Whether a loop over an axis can use packs, and gains by them."""
    gains = False
    for item in items:
        if item.kind == REDUCTION:
            fits = item.value.dtype == FLOAT and item.reduce in ("sum", "product", "maximum", "minimum")
        else:
            fits = _is_step(item.position, axis, (1,))
        if not fits or not _is_float(item.buffer.dtype):
            return False  # packs cannot be stored as truth values
        result = stored_value(item)
        for part in walk(result):
            # Packs have 32 bits: a value on the way to another cannot be rounded to 16.
            is_rounded = isinstance(part, Cast) and part.dtype in SHORT_FLOATS and part is not result
            if not _takes_packs(part, axis) or (is_rounded and config.emulate_precision_casts):
                return False
            gains |= _gains(part)
    return gains and has_packs()


def stored_value(item: Item) -> Expr:
    """The value of an item, without roundings that storing it does."""
    value = item.value
    while isinstance(value, (Named, Map)) and item.kind != REDUCTION:
        if isinstance(value, Map) and value.function != "rounded":
            break
        value = value.value if isinstance(value, Named) else value.args[0]
    return value


def _gains(part: Expr) -> bool:
    if isinstance(part, Map):
        return part.function in pack_words() and part.function not in _PLAIN
    return isinstance(part, Load) and part.dtype in SHORT_FLOATS


def _takes_packs(part: Expr, axis: Axis) -> bool:
    if isinstance(part, Load):
        is_row = _is_step(part.position, axis, (0, 1)) and not part.position.loaded()
        return is_row and _is_float(part.dtype)
    if isinstance(part, Cast):
        return _is_float(part.dtype) and _is_float(part.value.dtype)
    if isinstance(part, Map):
        return _map_takes_packs(part)
    return isinstance(part, (Const, Named)) and (_is_float(part.dtype) or part.dtype == TRUTH)


def _map_takes_packs(part: Map) -> bool:
    is_truth = [a.dtype == TRUTH for a in part.args]
    if part.function in ("and", "or", "not"):
        return all(is_truth)
    if part.function in _COMPARISONS:
        is_of_mask = is_truth[0] and part.function == "!=" and isinstance(part.args[1], Const)
        return is_of_mask or all(_is_float(a.dtype) for a in part.args)
    known = part.function in _ARITHMETIC or part.function == "where" or part.function in pack_words()
    return known and part.dtype == FLOAT


def _is_float(dtype: Any) -> bool:
    return dtype == FLOAT or dtype in SHORT_FLOATS


def _is_step(position: Linear, axis: Axis, steps: Sequence[int]) -> bool:
    """Whether a position moves by one of these for each step along an axis."""
    factor = position.factor(axis)
    return factor in steps and list(position.axes()).count(axis) == (factor != 0)
