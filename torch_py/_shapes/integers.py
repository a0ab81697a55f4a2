"""Integers that remember the formula of sizes that vary which they come from (sizes.py)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from torch_py._shapes.formulas import COMPARISONS, Formula, Term, evaluate, product, symbols_in
from torch_py._shapes.held import Held
from torch_py._shapes.reals import SymFloat, add_arithmetic, fix_for, real, real_arithmetic, term_of
from torch_py._shapes.stand_ins import SMALLEST

if TYPE_CHECKING:
    from torch_py._shapes.sizes import Sizes


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
    if operation == "mul":  # numbers come first
        return product(*sorted((left, right), key=lambda term: not isinstance(term, int)))
    if right == 0 or (operation == "add" and left == 0):
        return left if right == 0 else right
    return Formula(operation, (left, right))


def _floor_division(self: SymInt, other: Any) -> Any:
    """By a number that does not vary; the quotient of two stand-ins says nothing about other sizes."""
    if type(other) is int and other > 0:
        value = int.__floordiv__(self, other)
        return self.sizes.composed(value, Formula("floordiv", (self.term, other)) if other > 1 else self.term)
    return self.sizes.fix(self) // self.sizes.fix(other)


def _modulo(self: SymInt, other: Any) -> Any:
    if type(other) is int and other > 0:
        if self.sizes.is_number(self.term):
            return self.sizes.composed(int.__mod__(self, other), Formula("mod", (self.term, other)))
        if self.sizes.is_multiple(self.term, other):
            return 0
    return self.sizes.fix(self) % self.sizes.fix(other)


def _power(self: SymInt, other: Any, modulus: Any = None) -> Any:
    if modulus is None and (type(other) is float or (type(other) is int and other < 0)):
        return real("pow", self, other)
    if type(other) is int and 1 <= other <= 3 and modulus is None:
        result = self
        for _ in range(other - 1):
            result = result * self
        return result
    return self.sizes.fix(self) ** self.sizes.fix(other)


def _comparison(sign: str) -> Any:
    def compare(self: SymInt, other: Any) -> Any:
        if isinstance(other, (int, float)):
            return self.sizes.decide(sign, self, other)
        return NotImplemented

    return compare


class SymInt(int):
    """A size that varies. Its value as an integer is that of the stand-ins, which operators in C++ see;
    Python sees the hint."""

    term: Term
    sizes: Sizes

    @property
    def hint(self) -> int:
        """The value in the example."""
        return evaluate(self.term, self.sizes.hints)  # type: ignore[no-any-return]

    @property
    def is_small(self) -> bool:
        """Whether operators cannot have it: in what they compute, it would not be found again."""
        is_small = abs(int.__int__(self)) < SMALLEST
        return is_small and not symbols_in(self.term) <= self.sizes.bounded

    __floordiv__ = _floor_division
    __mod__ = _modulo
    __pow__ = _power

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return self.sizes.decide("!=", self, 0)


add_arithmetic(SymInt, ("add", "sub", "mul"), _arithmetic)
add_arithmetic(SymInt, ("truediv",), real_arithmetic)
for _sign, _compared in COMPARISONS.items():
    setattr(SymInt, f"__{_compared.__name__}__", _comparison(_sign))
fix_for(
    SymInt,
    "__abs__ __and__ __ceil__ __divmod__ __float__ __floor__ __format__ __hash__ __int__ __invert__ "
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


VARYING = frozenset({SymInt, SymFloat, Held})  # the types of numbers, and other values, that vary


def combined(function: Any, left: Any, right: Any) -> Any:
    """``left <operator> right`` of numbers and texts.

    Other types on the left take an integer on the right for its bits, without asking it.
    """
    if type(right) is not SymInt or type(left) in (int, bool, SymInt, SymFloat):
        is_text = type(right) is str and type(left) is SymInt
        return function(left.sizes.fix(left) if is_text else left, right)
    operation = function.__name__.strip("_").removeprefix("i")
    if type(left) is float and operation in ("add", "sub", "mul", "truediv"):
        return real(operation, left, right)
    return function(left, right.sizes.fix(right))
