"""What a program decides about sizes that vary while it runs once.

A size that varies has two values: the *hint*, which it has in the example, and its *stand-in*, a prime.
Tensors without memory get the stand-in as their size, so that operators in C++ compute with ordinary
integers. In what they compute, the primes show which sizes a number depends on. Python decides by the
hints, and every decision is kept as a relation that later calls must satisfy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch_py._records import Fields
from torch_py._shapes import stand_ins as primes
from torch_py._shapes.formulas import (
    Formula,
    Relation,
    Symbol,
    Term,
    affine,
    evaluate,
    product,
    symbols_in,
    value_of,
)
from torch_py._shapes.numbers import LARGEST, SymFloat, SymInt, term_of

_PROBES = 66  # numbers for which formulas are compared: remainders are mostly of smaller ones
_LARGEST_OFFSET = 64  # from a multiple of a prime
_BLOCK = 64  # a distance that does not change how halves and blocks are rounded


class TooManySizes(Exception):
    """More sizes vary than there are stand-ins, or one has a range without enough numbers."""


class Sizes(Fields):
    """The sizes that vary in one capture, and what the program has decided about them.

    Sizes that are equal in the example are taken to be always equal, which is a relation of its own: programs
    seldom have two batch sizes.
    """

    hints: dict[Symbol, int] = {}
    stand_ins: dict[Symbol, int] = {}
    relations: dict[Relation, None] = {}
    numbers: set[Symbol] = set()  # integers of the program itself, which no tensor has as a size
    bounded: set[Symbol] = set()  # those that operators take in a range only
    divisors: dict[Symbol, int] = {}  # what the sizes have to be multiples of in the next capture
    single: set[Symbol] = set()  # sizes of this call that are such a number once, which do not vary then
    questions: list[tuple[Symbol, int]] = []  # numbers that tell formulas apart
    reals: dict[Term, tuple[Any, ...]] = {}  # that operators were given, with their values for recordings
    # Formulas that stand-ins are too large for, and what has to be true of smaller ones.
    lost: list[tuple[Term, Callable[[dict[Symbol, int]], bool]]] = []
    _known: dict[int, Term] = {}  # by the value for the stand-ins

    def new(self, hint: int, allowed: primes.Range | None = None, is_number: bool = False) -> SymInt:
        """A size that varies and is `hint` in the example, which must be 2 or more, or an integer of the
        program (`is_number`). With `allowed`, operators take it in this range only.

        An integer is a size where a tensor has been seen that is as large; positions, which have a range,
        have nothing to do with sizes.
        """
        sizes = (s for s, size in self.hints.items() if size == hint and s not in self.numbers)
        symbol = None if is_number and allowed is not None else next(sizes, None)
        if symbol is None:
            symbol = self._symbol(hint, allowed)
            if is_number:
                self.numbers.add(symbol)
        return self._integer(symbol)

    def _symbol(self, hint: int, allowed: primes.Range | None) -> Symbol:
        position = len(self.hints)
        if position == len(primes.PRIMES):
            raise TooManySizes

        symbol = Symbol(f"s{position}", min=2)
        if allowed is not None:
            symbol.samples = primes.samples_in(allowed, [other.samples for other in self.bounded])
            if not symbol.samples:
                raise TooManySizes
            self.bounded.add(symbol)
        if allowed is not None and allowed.is_guarded:
            symbol.min = allowed.low
            symbol.max = allowed.high
            self.relations[Relation(">=", symbol, symbol.min)] = None
            self.relations[Relation("<=", symbol, symbol.max)] = None

        self.hints[symbol] = hint
        self.stand_ins[symbol] = symbol.samples[0] if symbol.samples else primes.PRIMES[position]
        return symbol

    def other_stand_ins(self, number: int) -> dict[Symbol, int]:
        """Sizes for the recording `number` of the same program."""
        return primes.mixed_stand_ins_of(list(self.stand_ins), number)

    def orders(self) -> list[list[Symbol]]:
        """The sizes in a few orders: of any two, each comes first in one, unless guards rule that out."""
        pairs = []
        for relation in self.relations:
            left, right = relation.left, relation.right
            if relation.sign not in ("==", "!=") and isinstance(left, Symbol) and isinstance(right, Symbol):
                pairs += [(left, right), (right, left)]
        # As in the example. Two numbers that are equal there may both be `<=` the other.
        pairs = [(one, other) for one, other in pairs if self.hints[one] < self.hints[other]]
        return primes.orders_of(list(self.hints), primes.all_smaller(pairs, self.hints))

    def in_order(self, order: list[Symbol], number: int = 0) -> dict[Symbol, int]:
        """Sizes like those of the recording `number`, of which those with primes are in an order."""
        values = self.other_stand_ins(number)
        free = [symbol for symbol in order if not symbol.samples]
        return {**values, **dict(zip(free, sorted(values[symbol] for symbol in free)))}

    def settled(self) -> list[dict[Symbol, int]]:
        """Sizes for the recordings of a program that decides nothing any more. Ranks the symbols."""
        found = self.orders()
        for rank, symbol in enumerate(found[0]):
            symbol.rank = rank
        count = max(primes.RECORDINGS, len(found) + 1)
        first, *others = [self.in_order(found[number % len(found)], number) for number in range(count)]
        return [first, *map(self._with_large_one, others)]

    def _with_large_one(self, values: dict[Symbol, int]) -> dict[Symbol, int]:
        """The largest size is larger than the sum of all others, too."""
        free = sorted((symbol for symbol in values if not symbol.samples), key=values.__getitem__)
        blocks = -(-sum(values[symbol] for symbol in free[:-1]) // _BLOCK)
        return {**values, **{symbol: values[symbol] + blocks * _BLOCK for symbol in free[-1:]}}

    def recordings(self) -> list[dict[Symbol, int]]:
        """The sets of numbers that tell formulas; the stand-ins come first."""
        answers = ({**self.stand_ins, symbol: size} for symbol, size in self.questions)
        return [*map(self.other_stand_ins, range(primes.RECORDINGS)), *answers]

    def _integer(self, term: Term) -> SymInt:
        value = evaluate(term, self.stand_ins)
        found = SymInt(value)
        found.sizes = self
        is_known = not self.bounded and abs(value) >= primes.SMALLEST
        found.term = self._known.setdefault(value, term) if is_known else term
        return found

    def integer(self, term: Term) -> int:
        """The number that a term is: a SymInt if it varies."""
        return self._integer(term) if isinstance(term, (Symbol, Formula)) else term  # type: ignore[return-value]

    def wrap(self, value: int) -> int:
        """A number that an operator has computed: a SymInt if it depends on sizes that vary."""
        term = self._known.get(value) or self._recovered(value)
        return value if term is None else self._integer(term)

    def is_explained(self, value: int) -> bool:
        """Whether it is known where a number comes from: not from a part of a stand-in, say."""
        return type(value) is SymInt or abs(value) < primes.SMALLEST or not self.hints

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
        if abs(value) < primes.SMALLEST:
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
        known = term if self.bounded else self._known.get(value, term)
        is_other = getattr(term, "size", 1) > LARGEST or not self.are_equal(known, term)
        if not is_other and (
            abs(value) >= primes.SMALLEST or symbols_in(term) <= self.numbers | self.bounded
        ):
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

    def is_multiple(self, term: Term, divisor: int) -> bool:
        """Whether a size is a multiple of a number: if it is in the example, it has to be, and is captured
        with stand-ins that are."""
        factor, symbol = term.operands if isinstance(term, Formula) and term.operation == "mul" else (1, term)
        if not isinstance(factor, int) or not isinstance(symbol, Symbol) or symbol in self.numbers:
            return False
        if factor % divisor == 0:
            return True
        if evaluate(term, self.hints) % divisor:
            return False

        needed = math.lcm(self.divisors.get(symbol, 1), divisor // math.gcd(divisor, factor))
        if needed < self.hints[symbol]:
            self.divisors[symbol] = needed
        else:
            self.single.add(symbol)
        return True

    def decide(self, sign: str, left: Any, right: Any) -> bool:
        """Compares two numbers by their hints, and remembers the outcome."""
        return self.decided(sign, left, right).sign == sign

    def decided(self, sign: str, left: Any, right: Any) -> Relation:
        """What is true in the example, `left sign right` or the opposite, and has to stay true."""
        found = Relation(sign, term_of(left), term_of(right))
        if not found.holds(self.hints):
            found = found.opposite()
        if found.left != found.right and found.symbols():
            self.relations[found] = None
        return found

    def allow(self, values: dict[Symbol, int]) -> bool:
        """Whether guards let calls with such sizes pass."""
        return all(relation.holds(values) for relation in self.relations)

    def note_real(self, term: Term) -> None:
        """Notes a real number that operators are given. Nothing shows where they use it if it is the same for
        other stand-ins, as powers that are all 0 are, or equal to another one for all of them."""
        rows = self.recordings()
        values = tuple(value_of(term, row) for row in rows)
        if len(set(values)) == 1:
            self.lost.append((term, lambda row: value_of(term, row) != values[0]))
        for other, known in self.reals.items():
            if known == values and not self.are_equal(term, other):
                self.lost.append((term, lambda row, other=other: value_of(term, row) != value_of(other, row)))
        self.reals[term] = values

    def are_equal(self, term: Term, other: Term) -> bool:
        """Whether two formulas give the same numbers, for small ones and for those close to the example."""
        if term == other:
            return True
        symbols = symbols_in(term) | symbols_in(other)
        near = [(s, start + step) for s in symbols for start in (2, self.hints[s]) for step in range(_PROBES)]
        rows = [{**self.hints, symbol: number} for symbol, number in near]
        return all(value_of(term, row) == value_of(other, row) for row in rows)

    def fix(self, value: Any) -> Any:
        """The hint of a number, which it must have from now on."""
        if isinstance(value, SymFloat):
            self.fix_symbols(value)
        elif isinstance(value, SymInt):
            self.relations[Relation("==", value.term, value.hint)] = None
        else:
            return value
        return evaluate(value.term, self.hints)

    def fix_symbols(self, *numbers: SymInt | SymFloat | Term) -> None:
        """From now on all that some numbers or terms depend on is what it is in the example."""
        for number in numbers:
            for symbol in symbols_in(term_of(number)):
                self.relations[Relation("==", symbol, self.hints[symbol])] = None

    @property
    def fixed(self) -> dict[Symbol, int]:
        """The sizes that turned out not to vary."""
        return {
            relation.left: relation.right
            for relation in self.relations
            if relation.sign == "==" and isinstance(relation.left, Symbol) and type(relation.right) is int
        }
