"""Sizes that vary while a program runs once: integers that remember the formula that they come from.

A size that varies has two values: the *hint*, which it has in the example, and its *stand-in*, a prime.
Tensors without memory get the stand-in as their size, so that operators in C++ compute with ordinary
integers. In what they compute, the primes show which sizes a number depends on. Python decides by the
hints, and every decision is kept as a relation that later calls must satisfy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from torch_py._records import Record
from torch_py._shapes.formulas import Formula, Symbol, Term, affine, evaluate, product, symbols_in
from torch_py._shapes.orders import Order, all_smaller, orders_of
from torch_py._shapes.reals import SymFloat, of_the_hint, real, term_of
from torch_py._shapes.stand_ins import PRIMES, RECORDINGS, Range, mixed_stand_ins_of, samples_in

_LARGEST_OFFSET = 64  # from a multiple of a prime
# Smaller numbers are too common to tell which sizes they come from.
_SMALLEST = 5000
_BLOCK = 64  # a distance that does not change how halves and blocks are rounded


class TooManySizes(Exception):
    """More sizes vary than there are stand-ins, or one has a range without enough numbers."""


class Relation(Record):
    """A decision of the program: `left sign right` was true."""

    __slots__ = _fields = ("sign", "left", "right")

    def __init__(self, sign: str, left: Term, right: Term) -> None:
        self.sign = sign
        self.left = left
        self.right = right

    def holds(self, values: dict[Symbol, int]) -> bool:
        """Whether it is true for other sizes."""
        return bool(_SIGNS[self.sign](evaluate(self.left, values), evaluate(self.right, values)))

    def symbols(self) -> set[Symbol]:
        """The sizes that it is about."""
        return symbols_in(self.left) | symbols_in(self.right)

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


class Sizes:
    """The sizes that vary in one capture, and what the program has decided about them.

    Sizes that are equal in the example are taken to be always equal, which is a relation of its own: programs
    seldom have two batch sizes.
    """

    def __init__(self) -> None:
        self.hints: dict[Symbol, int] = {}
        self.stand_ins: dict[Symbol, int] = {}
        self.relations: dict[Relation, None] = {}
        self.numbers: set[Symbol] = set()  # integers of the program itself, which no tensor has as a size
        self.bounded: set[Symbol] = set()  # those that operators take in a range only
        self.questions: list[tuple[Symbol, int]] = []  # numbers that tell formulas apart
        self.reals: dict[Term, None] = {}  # real numbers that operators were given
        self._known: dict[int, Term] = {}  # by the value for the stand-ins

    def new(self, hint: int, allowed: Range | None = None) -> SymInt:
        """A size that varies and is `hint` in the example, which must be 2 or more. With `allowed`, operators
        take it in this range only.
        """
        for symbol, size in self.hints.items():
            if size == hint and symbol not in self.numbers:
                return self._integer(symbol)
        return self._integer(self._symbol(hint, allowed))

    def new_number(self, hint: int, allowed: Range | None = None) -> SymInt:
        """An integer of the program that varies and is `hint` in the example, which must be 2 or more.

        It is a size where a tensor has been seen that is as large; positions have nothing to do with sizes.
        """
        is_size = any(size == hint and symbol not in self.numbers for symbol, size in self.hints.items())
        if is_size and allowed is None:
            return self.new(hint)
        symbol = self._symbol(hint, allowed)
        self.numbers.add(symbol)
        return self._integer(symbol)

    def _symbol(self, hint: int, allowed: Range | None) -> Symbol:
        position = len(self.hints)
        if position == len(PRIMES):
            raise TooManySizes

        symbol = Symbol(f"s{position}", min=2)
        if allowed is not None:
            symbol.samples = samples_in(allowed, [other.samples for other in self.bounded])
            if not symbol.samples:
                raise TooManySizes
            self.bounded.add(symbol)
        if allowed is not None and allowed.is_guarded:
            symbol.min = allowed.low
            symbol.max = allowed.high
            self.relations[Relation(">=", symbol, symbol.min)] = None
            self.relations[Relation("<=", symbol, symbol.max)] = None

        self.hints[symbol] = hint
        self.stand_ins[symbol] = symbol.samples[0] if symbol.samples else PRIMES[position]
        return symbol

    def other_stand_ins(self, number: int) -> dict[Symbol, int]:
        """Sizes for the recording `number` of the same program."""
        return mixed_stand_ins_of(list(self.stand_ins), number)

    def orders(self) -> list[Order]:
        """The sizes in a few orders: of any two, each comes first in one, unless guards rule that out."""
        pairs = []
        for relation in self.relations:
            left, right = relation.left, relation.right
            if relation.sign not in ("==", "!=") and isinstance(left, Symbol) and isinstance(right, Symbol):
                pairs += [(left, right), (right, left)]
        # As in the example. Two numbers that are equal there may both be `<=` the other.
        pairs = [(one, other) for one, other in pairs if self.hints[one] < self.hints[other]]
        return orders_of(list(self.hints), all_smaller(pairs, self.hints))

    def in_order(self, order: Order, number: int = 0) -> dict[Symbol, int]:
        """Sizes like those of the recording `number`, of which those with primes are in an order."""
        values = self.other_stand_ins(number)
        free = [symbol for symbol in order if not symbol.samples]
        return {**values, **dict(zip(free, sorted(values[symbol] for symbol in free)))}

    def settled(self) -> list[dict[Symbol, int]]:
        """Sizes for the recordings of a program that decides nothing any more. Ranks the symbols."""
        found = self.orders()
        for rank, symbol in enumerate(found[0]):
            symbol.rank = rank
        first, *others = [
            self.in_order(found[number % len(found)], number)
            for number in range(max(RECORDINGS, len(found) + 1))
        ]
        return [first, *map(self._with_large_one, others)]

    def _with_large_one(self, values: dict[Symbol, int]) -> dict[Symbol, int]:
        """The largest size is larger than the sum of all others, too."""
        free = sorted((symbol for symbol in values if not symbol.samples), key=values.__getitem__)
        blocks = -(-sum(values[symbol] for symbol in free[:-1]) // _BLOCK)
        return {**values, **{symbol: values[symbol] + blocks * _BLOCK for symbol in free[-1:]}}

    def recordings(self) -> list[dict[Symbol, int]]:
        """The sets of numbers that tell formulas; the stand-ins come first."""
        answers = ({**self.stand_ins, symbol: size} for symbol, size in self.questions)
        return [*map(self.other_stand_ins, range(RECORDINGS)), *answers]

    def _integer(self, term: Term) -> SymInt:
        value = evaluate(term, self.stand_ins)
        found = SymInt(value)
        found.sizes = self
        is_known = not self.bounded and abs(value) >= _SMALLEST
        found.term = self._known.setdefault(value, term) if is_known else term
        return found

    def integer(self, term: Term) -> int:
        """The number that a term is: a SymInt if it varies."""
        return self._integer(term) if isinstance(term, (Symbol, Formula)) else term  # type: ignore[return-value]

    def wrap(self, value: int) -> int:
        """A number that an operator has computed: a SymInt if it depends on sizes that vary."""
        if value in self._known:
            return self._integer(self._known[value])
        term = self._recovered(value)
        return value if term is None else self._integer(term)

    def _recovered(self, value: int) -> Term | None:
        """The formula of a number, from its prime factors: near a multiple of a product, or the sum of such a
        number and a size."""
        found = self._near_product(value)
        if found is not None:
            return found
        for symbol, prime in self.stand_ins.items():
            rest = self._near_product(value - prime) if value > prime else None
            if rest is not None:
                return Formula("add", (symbol, rest))
        return None

    def _near_product(self, value: int) -> Term | None:
        if abs(value) < _SMALLEST:
            return None
        for distance in range(_LARGEST_OFFSET + 1):
            for offset in {distance, -distance}:
                factor, factors = self._factors(value - offset)
                if factors:
                    # What is left may be another such number: that of (s0 + 3)*s1 is a multiple of s1.
                    rest = self._recovered(factor)
                    return affine(1, product(factor if rest is None else rest, *factors), offset)
        return None

    def _factors(self, value: int) -> tuple[int, list[Symbol]]:
        factors = []
        for symbol, prime in self.stand_ins.items():
            while value and value % prime == 0:
                value //= prime
                factors.append(symbol)
        return value, factors

    def composed(self, value: int, term: Term) -> int:
        """The number that Python computes by `term`, with its value for the stand-ins."""
        if abs(value) >= _SMALLEST or symbols_in(term) <= self.numbers | self.bounded:
            return self._integer(term)
        # What cancels out is the same for other sizes; the rest is not followed any further.
        hint = evaluate(term, self.hints)
        self.relations[Relation("==", term, hint)] = None
        return hint  # type: ignore[no-any-return]

    def depends_on_numbers(self, term: Term) -> bool:
        """Whether a term depends on integers of the program, not on sizes alone."""
        return bool(self.numbers) and not self.numbers.isdisjoint(symbols_in(term))

    def is_number(self, term: Term) -> bool:
        """Whether a term depends on integers of the program alone."""
        return bool(self.numbers) and symbols_in(term) <= self.numbers

    def decide(self, sign: str, left: Any, right: Any) -> bool:
        """Compares two numbers by their hints, and remembers the outcome."""
        if isinstance(left, float) or isinstance(right, float):
            return bool(_SIGNS[sign](self.fix(left), self.fix(right)))
        return self.decided(sign, left, right).sign == sign

    def decided(self, sign: str, left: Any, right: Any) -> Relation:
        """What is true in the example, `left sign right` or the opposite, and has to stay true."""
        terms = term_of(left), term_of(right)
        outcome = bool(_SIGNS[sign](*(evaluate(term, self.hints) for term in terms)))
        found = Relation(sign if outcome else _OPPOSITES[sign], *terms)
        if terms[0] != terms[1] and found.symbols():
            self.relations[found] = None
        return found

    def hint_of(self, value: int) -> int:
        """A number in the example."""
        return evaluate(term_of(value), self.hints)  # type: ignore[no-any-return]

    def fix(self, value: Any) -> Any:
        """The hint of a number, which it must have from now on."""
        if isinstance(value, SymFloat):
            self.fix_symbols(value)
            return evaluate(value.term, self.hints)
        if not isinstance(value, SymInt):
            return value
        hint = value.hint
        self.relations[Relation("==", value.term, hint)] = None
        return hint

    def fix_symbol(self, symbol: Symbol) -> None:
        """From now on a size, or an integer of the program, is what it is in the example."""
        self.relations[Relation("==", symbol, self.hints[symbol])] = None

    def fix_symbols(self, number: SymInt | SymFloat) -> None:
        """From now on all that a number depends on is what it is in the example."""
        for symbol in symbols_in(number.term):
            self.fix_symbol(symbol)

    @property
    def fixed(self) -> dict[Symbol, int]:
        """The sizes that turned out not to vary."""
        return {
            relation.left: relation.right
            for relation in self.relations
            if relation.sign == "==" and isinstance(relation.left, Symbol) and type(relation.right) is int
        }


# Methods of SymInt
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
    if operation == "mul" and (isinstance(left, int) or not isinstance(right, int)):
        return product(left, right)
    if operation == "mul":
        return product(right, left)
    if right == 0 or (operation == "add" and left == 0):
        return left if right == 0 else right
    return Formula(operation, (left, right))


def _floor_division(self: SymInt, other: Any) -> Any:
    """By a number that does not vary; the quotient of two stand-ins says nothing about other sizes."""
    if type(other) is int and other > 0:
        value = int.__floordiv__(self, other)
        return self.sizes.composed(value, Formula("floordiv", (self.term, other)) if other > 1 else self.term)
    return of_the_hint(int, "__floordiv__")(self, other)


def _modulo(self: SymInt, other: Any) -> Any:
    if type(other) is int and other > 0 and self.sizes.is_number(self.term):
        return self.sizes.composed(int.__mod__(self, other), Formula("mod", (self.term, other)))
    return of_the_hint(int, "__mod__")(self, other)


def _quotient(is_reflected: bool = False) -> Any:
    def compute(self: SymInt, other: Any) -> Any:
        if type(other) not in (int, bool, float, SymInt):
            return NotImplemented
        return real("truediv", other, self) if is_reflected else real("truediv", self, other)

    return compute


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
        is_small = abs(int.__int__(self)) < _SMALLEST
        return is_small and not symbols_in(self.term) <= self.sizes.bounded

    __add__ = _arithmetic("add")
    __radd__ = _arithmetic("add", is_reflected=True)
    __sub__ = _arithmetic("sub")
    __rsub__ = _arithmetic("sub", is_reflected=True)
    __mul__ = _arithmetic("mul")
    __rmul__ = _arithmetic("mul", is_reflected=True)
    __floordiv__ = _floor_division
    __mod__ = _modulo
    __pow__ = _power
    __truediv__ = _quotient()
    __rtruediv__ = _quotient(is_reflected=True)

    __eq__ = _comparison("==")
    __ne__ = _comparison("!=")
    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return self.sizes.decide("!=", self, 0)


for _name in (
    "__abs__ __and__ __ceil__ __divmod__ __float__ __floor__ __format__ __hash__ __int__ __invert__ "
    "__lshift__ __or__ __rand__ __rdivmod__ __repr__ __rfloordiv__ __rlshift__ __rmod__ __ror__ "
    "__round__ __rpow__ __rrshift__ __rshift__ __rxor__ __str__ __trunc__ __xor__ "
    "bit_count bit_length conjugate to_bytes"
).split():
    setattr(SymInt, _name, of_the_hint(int, _name))


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


VARYING = frozenset({SymInt, SymFloat})  # the types of numbers that vary


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
