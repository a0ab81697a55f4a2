"""Numbers that remember the formula of sizes that vary which they come from (sizes.py): integers, sizes of
tensors, and real numbers that Python computes from them. Values that are held but unknown belong here, too.

The value as a Python number is that for the stand-ins, which operators in C++ see; Python sees the hint.
What Python asks a real number for, but for comparisons, fixes the integers that it depends on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from torch_py._shapes.formulas import (
    COMPARISONS,
    Formula,
    Relation,
    Term,
    evaluate,
    product,
    symbols_in,
    value_of,
)
from torch_py._shapes.stand_ins import SMALLEST

if TYPE_CHECKING:
    from torch_py._shapes.sizes import Sizes


# What has no value for some numbers, or is too large for a float.
_PARTIAL = frozenset({"cosh", "exp", "log", "log2", "pow", "sinh", "sqrt"})
LARGEST = 100  # of a formula: what is composed of more parts does not vary


class Varies:
    """A number that varies."""

    term: Term
    sizes: Sizes

    def __neg__(self) -> Any:
        return self * -1  # type: ignore[operator]

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self  # type: ignore[operator]

    def __bool__(self) -> bool:
        return self.sizes.decide("!=", self, 0)


# Real numbers
# ------------------------------------------------------------


def real(operation: str, *operands: Any) -> float:
    """The number that an operation makes of numbers, one of which varies at least."""
    sizes = next(operand.sizes for operand in operands if hasattr(operand, "sizes"))
    terms = map(term_of, operands)
    if operation in ("add", "sub", "mul"):  # so that n - 1.0 is not the integer n - 1
        terms = (Formula("sym_float", (t,)) if type(n) is SymInt else t for n, t in zip(operands, terms))
    term = Formula(operation, tuple(terms))
    hint, value = value_of(term, sizes.hints), value_of(term, sizes.stand_ins)
    if type(hint) is not float or term.size > LARGEST:
        sizes.fix_symbols(term)
        return evaluate(term, sizes.hints)  # type: ignore[no-any-return]  # or raises what the program would

    *_, last = term.operands
    if operation in _PARTIAL:
        sizes.relations[Relation("<=", term, math.inf)] = None  # true wherever it has a value
    elif operation == "truediv" and isinstance(last, Formula):
        sizes.relations[Relation("!=", last, 0)] = None
    if type(value) is not float:
        sizes.lost.append((term, lambda values: type(value_of(term, values)) is float))
        return hint
    return _sym_float(value, term, sizes)


def _sym_float(value: float, term: Term, sizes: Sizes) -> SymFloat:
    found = SymFloat(value)
    found.term = term
    found.sizes = sizes
    return found


def term_of(value: Any) -> Term:
    return getattr(value, "term", value)  # type: ignore[no-any-return]


def _real_arithmetic(operation: str, is_reflected: bool = False) -> Any:
    def compute(self: SymFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return real(operation, other, self) if is_reflected else real(operation, self, other)

    return compute


def _add_arithmetic(kind: type, operations: Sequence[str], made: Callable[..., Any]) -> None:
    """Adds operators and reflected ones to a class of numbers that vary; `made` makes their methods."""
    for operation in operations:
        setattr(kind, f"__{operation}__", made(operation))
        setattr(kind, f"__r{operation}__", made(operation, is_reflected=True))


def _fix_for(kind: type, names: str) -> None:
    """Adds methods whose result does not vary: the numbers are taken for fixed."""

    def fixing(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *others: method(self.sizes.fix(self), *map(self.sizes.fix, others))

    for name in names.split():
        setattr(kind, name, fixing(getattr(kind.__base__, name)))


class SymFloat(Varies, float):
    """A real number that varies."""


_add_arithmetic(SymFloat, ("add", "sub", "mul", "pow", "truediv"), _real_arithmetic)
_fix_for(
    SymFloat,
    "__ceil__ __divmod__ __float__ __floor__ __floordiv__ __format__ __hash__ __int__ __mod__ "
    "__rdivmod__ __repr__ __rfloordiv__ __rmod__ __round__ __str__ __trunc__ as_integer_ratio conjugate hex "
    "is_integer",
)


# Integers
# ------------------------------------------------------------


def _arithmetic(operation: str, is_reflected: bool = False) -> Any:
    """Sums, differences and products, which are sizes again if the other operand is an integer."""
    function = getattr(int, f"__{operation}__")

    def compute(self: SymInt, other: Any) -> Any:
        if type(other) is float:
            return real(operation, other, self) if is_reflected else real(operation, self, other)
        if type(other) not in (int, bool, SymInt):
            return NotImplemented
        left, right = (other, self) if is_reflected else (self, other)
        term = _simplified(operation, term_of(left), term_of(right))
        return self.sizes.composed(function(left, right), term)

    return compute


def _simplified(operation: str, left: Term, right: Term) -> Term:
    if operation == "mul":
        return product(left, right)
    if right == 0 or (operation == "add" and left == 0):
        return left if right == 0 else right
    return Formula(operation, (left, right))


def _comparison(sign: str) -> Any:
    def compare(self: SymInt | SymFloat, other: Any) -> Any:
        return self.sizes.decide(sign, self, other) if isinstance(other, (int, float)) else NotImplemented

    return compare


class SymInt(Varies, int):
    """A size that varies."""

    @property
    def hint(self) -> int:
        """The value in the example."""
        return evaluate(self.term, self.sizes.hints)  # type: ignore[no-any-return]

    @property
    def is_small(self) -> bool:
        """Whether operators cannot have it: in what they compute, it would not be found again."""
        is_small = abs(int.__int__(self)) < SMALLEST
        return is_small and not symbols_in(self.term) <= self.sizes.bounded

    def __floordiv__(self, other: Any) -> Any:
        """By a number that does not vary; the quotient of two stand-ins says nothing about other sizes."""
        if type(other) is int and other > 0:
            term = Formula("floordiv", (self.term, other)) if other > 1 else self.term
            return self.sizes.composed(int.__floordiv__(self, other), term)
        return self.sizes.fix(self) // self.sizes.fix(other)

    def __mod__(self, other: Any) -> Any:
        if type(other) is int and other > 0:
            if self.sizes.is_number(self.term):
                return self.sizes.composed(int.__mod__(self, other), Formula("mod", (self.term, other)))
            if self.sizes.is_multiple(self.term, other):
                return 0
        return self.sizes.fix(self) % self.sizes.fix(other)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None and (type(other) is float or (type(other) is int and other < 0)):
            return real("pow", self, other)
        if type(other) is int and 1 <= other <= 3 and modulus is None:
            return math.prod([self] * other)
        return pow(*map(self.sizes.fix, (self, other, modulus)))


_add_arithmetic(SymInt, ("add", "sub", "mul"), _arithmetic)
_add_arithmetic(SymInt, ("truediv",), _real_arithmetic)
for _sign, _compared in COMPARISONS.items():
    for _kind in (SymInt, SymFloat):
        setattr(_kind, f"__{_compared.__name__}__", _comparison(_sign))
_fix_for(
    SymInt,
    "__and__ __ceil__ __divmod__ __float__ __floor__ __format__ __hash__ __int__ __invert__ "
    "__lshift__ __or__ __rand__ __rdivmod__ __repr__ __rfloordiv__ __rlshift__ __rmod__ __ror__ "
    "__round__ __rpow__ __rrshift__ __rshift__ __rxor__ __str__ __trunc__ __xor__ "
    "bit_count bit_length conjugate to_bytes",
)


class SymSize(tuple[Any, ...]):
    """A `torch.Size` that has sizes that vary: that class makes plain integers of its elements."""

    def numel(self) -> Any:
        return math.prod(self)

    # Methods of `tuple`, as functions, would get the numbers of the example from compiled programs.

    def __getitem__(self, key: Any) -> Any:
        found = [*self][key]
        return SymSize(found) if type(key) is slice else found

    def __add__(self, other: Any) -> Any:
        return SymSize((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return SymSize((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return SymSize([*self] * count)

    __rmul__ = __mul__


# What is not known
# ------------------------------------------------------------


class Held:
    """A float or a text of the program, of class `kind`, which may be another one in the next call. It can be
    moved and stored; whatever looks at it calls `refuse`, which raises an exception."""

    __slots__ = ("kind", "refuse", "source")

    def __init__(self, kind: type, source: Any, refuse: Callable[[], Any]) -> None:
        self.kind = kind
        self.source = source
        self.refuse = refuse


def _refusing(self: Held, *operands: Any) -> Any:
    return self.refuse()


_BINARY = "add sub mul truediv floordiv mod pow divmod and or xor lshift rshift matmul".split()
_NAMES = (
    "eq ne lt le gt ge hash bool len getitem contains iter neg pos abs invert int float complex index round "
    "trunc floor ceil format repr str bytes fspath"
).split()
for _name in (*_NAMES, *_BINARY, *(f"r{name}" for name in _BINARY)):
    setattr(Held, f"__{_name}__", _refusing)


VARYING = frozenset({SymInt, SymFloat, Held})  # the types of numbers, and other values, that vary


def combined(function: Any, left: Any, right: Any) -> Any:
    """``left <operator> right`` of numbers and texts.

    Other types on the left take a number on the right for its bits, without asking it; complex numbers and
    texts do on both sides.
    """
    kinds = type(left), type(right)
    number = right if kinds[1] in (SymInt, SymFloat) else left
    if type(number) in (SymInt, SymFloat) and (complex in kinds or str in kinds):
        return function(number.sizes.fix(left), number.sizes.fix(right))

    if kinds == (bool, SymInt):
        left = int(left)
    elif kinds == (float, SymInt):
        left = _sym_float(left, left, right.sizes)  # a constant, whose class asks the integer
    return function(left, right)
