"""Finds the formula of a number that varies between recordings of a program for different sizes.

A number is tried as increasingly complex forms of the sizes: products, affine forms of products, sizes of
tensors at hand, and rounded quotients. A form counts if it is exact for every recording. Where forms that
agree on all of them would differ for other sizes, `Ambiguous` names sizes that tell them apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, islice
from operator import itemgetter
from typing import Any

from torch_py._shapes.formulas import Formula, Symbol, Term, affine, evaluate, product, symbols_in

Values = tuple[Any, ...]  # one number for each recording

_LARGEST_DIVISOR = 64
_LARGEST_PROBE = 512
_MOST_ANSWERS = 8  # sizes that a question names
_BLOCKS = (128, 256)  # larger divisors, as of loops in blocks


Question = tuple[Symbol, tuple[int, ...]]


class Ambiguous(Exception):
    """Several formulas explain all recordings; another recording with one of `sizes` for `symbol` decides."""

    def __init__(self, symbol: Symbol, sizes: Iterable[int]) -> None:
        self.symbol = symbol
        self.sizes = tuple(islice(sizes, _MOST_ANSWERS))
        self.size = self.sizes[0]
        self.key: Question = symbol, self.sizes
        super().__init__(f"{symbol} = {self.size}")


class Solver:
    """Explains numbers by the sizes of recordings.

    Of formulas that only sizes in `unanswered` questions tell apart, the one with the smallest offset counts.
    """

    def __init__(
        self, recordings: Sequence[Mapping[Symbol, int]], unanswered: Collection[Question] = ()
    ) -> None:
        self.recordings = recordings
        self._sizes = {symbol: tuple(sizes[symbol] for sizes in recordings) for symbol in recordings[0]}
        self._unanswered = unanswered
        self._products_of_sizes = list(_products_of(self._sizes))
        self._known: dict[tuple[type, Values], Term | None] = {}  # with the type: 5 == 5.0
        self._quotients: dict[Values, Term] = {}
        # Quotients and sums that have been found: numbers of elements are products with them.
        self._parts: dict[Term, Values] = {}
        # Products of sizes and parts, by how many parts there were.
        self._products: dict[int, list[tuple[Term, Values]]] = {}

    def solve(self, values: Values, at_hand: Sequence[tuple[Symbol, Values]] = ()) -> Term | None:
        """The formula of a number that was `values` in the recordings; None if none is found.

        `at_hand` are sizes of tensors that the number may also depend on.
        """
        if all(value == values[0] and type(value) is type(values[0]) for value in values):
            return values[0]
        key = type(values[0]), values
        if key not in self._known:
            self._known[key] = self._of_symbols(values)
        found = self._known[key]
        if isinstance(found, Formula) and found.operation in ("add", "sub"):
            self._parts[found] = values
        if found is None and all(type(value) is int for value in values):
            found = _of_products(values, at_hand)
            return self._quotient(values) if found is None else found
        return found

    def solution(self, values: Values) -> Term | None:
        """Like `solve`, but None if the recordings do not tell several formulas apart."""
        try:
            return self.solve(values)
        except Ambiguous:
            return None

    def _of_symbols(self, values: Values) -> Term | None:
        if all(type(value) is int for value in values):
            return self._integer(values)
        if all(type(value) is float and math.isfinite(value) for value in values):
            return self._real(values)
        return None

    # Integers
    # ------------------------------------------------------------

    def _integer(self, values: Values) -> Term | None:
        found = _of_products_or_affine(values, self._products_of_sizes)
        return found if found is not None else self._of_two(values)

    def _of_two(self, values: Values) -> Term | None:
        """A sum of two sizes with factors, as of tensors that are joined."""
        for first, second in combinations(self._sizes, 2):
            for factor in (1, 2, 3, 4, -1):
                rest = tuple(v - factor * size for v, size in zip(values, self._sizes[first]))
                form = _affine_fit(rest, self._sizes[second])
                if form is not None:
                    return Formula("add", (product(factor, first), affine(form[0], second, form[1])))
        return None

    def _quotient(self, values: Values) -> Term | None:
        """A rounded quotient, or a multiple of a product with those found before."""
        if values in self._quotients:
            return self._quotients[values]

        found = self._of_parts(values)
        if found is None:
            found = self._rounded(values)
            if found is not None:
                self._parts[found] = values
        if found is not None:  # otherwise a later part may explain the number
            self._quotients[values] = found
        return found

    def _of_parts(self, values: Values) -> Term | None:
        """A multiple of a product with quotients and sums that have been found before."""
        return _of_products_or_affine(values, self._products_with_parts()) if self._parts else None

    def _products_with_parts(self) -> list[tuple[Term, Values]]:
        """Products of sizes and of the parts that have been found so far."""
        count = len(self._parts)
        if count not in self._products:
            self._products = {count: list(_products_of({**self._sizes, **self._parts}))}
        return self._products[count]

    def _rounded(self, values: Values) -> Term | None:
        """factor * ((size + shift) // divisor) + offset, or blocks: those of 256 in 5 * s0 are nearly those
        of 51 in s0, so that they are told apart by further recordings."""
        blocks = self._rounded_up(values)
        for symbol, sizes in self._sizes.items():
            if blocks is None or symbols_in(blocks) == {symbol}:
                found = sorted(_rounded_fits(symbol, sizes, values), key=itemgetter(0))
                if fits := [term for _, term in found]:
                    return self._decided(symbol, sizes, fits if blocks is None else [*fits, blocks])
        return blocks

    def _decided(self, symbol: Symbol, sizes: Values, fits: list[Term]) -> Term:
        """The only fit, or one that equals all others for every size; Ambiguous otherwise."""
        # Not below the recorded sizes: small ones are often special.
        lowest = max(symbol.min, min(sizes), 1)
        highest = lowest + _LARGEST_PROBE if symbol.max is None else min(symbol.max, lowest + _LARGEST_PROBE)
        # How many fits a recording would leave, at most.
        left = {
            size: max(Counter(evaluate(fit, {symbol: size}) for fit in fits).values())
            for size in range(lowest, highest + 1)
        }
        if min(left.values()) < len(fits):
            question = Ambiguous(symbol, sorted(left, key=left.__getitem__))
            if question.key not in self._unanswered:
                raise question
        return fits[0]

    def _rounded_up(self, values: Values) -> Term | None:
        """How many blocks of a power of two hold a multiple of a product of sizes."""
        for term, numbers in _products_of(self._sizes):
            for divisor in _BLOCKS if min(numbers) > _LARGEST_PROBE else ():
                factor = values[0] * divisor // numbers[0]
                if factor and all(v == -(-factor * n // divisor) for v, n in zip(values, numbers)):
                    count = affine(factor, term, divisor - 1)
                    return Formula("floordiv", (count, divisor))
        return None

    # Other numbers
    # ------------------------------------------------------------

    def _real(self, values: Values) -> Term | None:
        for undo, redo in _REAL_FORMS:
            integers = tuple(map(undo, values))
            term = None
            if None not in integers:
                term = self._integer(integers)
                term = self._of_parts(integers) if term is None else term
            if term is not None and all(map(_is_equal, self._values_of(redo(term)), values)):
                return redo(term)
        return self._bessel_factor(values)

    def _bessel_factor(self, values: Values) -> Term | None:
        """n / (n - 1) for a large n, which shows only roughly in the number: the elements of a variance."""
        if any(value <= 1 or value > 1.001 for value in values):
            return None

        estimate = values[0] / (values[0] - 1)
        for term, numbers in self._products_with_parts():
            factor = round(estimate / numbers[0])
            counts = [factor * number for number in numbers]
            if factor and all(_is_equal(count / (count - 1), v) for count, v in zip(counts, values)):
                count = product(factor, term)
                return Formula("truediv", (count, affine(1, count, -1)))
        return None

    def know(self, term: Any) -> None:
        """Adds the quotients and sums in a term to those that numbers may be products of. Raises Ambiguous
        if the recordings do not tell a quotient from other formulas."""
        for operand in term.operands if isinstance(term, Formula) else ():
            self.know(operand)
        if isinstance(term, Formula) and term.operation in ("add", "sub"):
            self._parts[term] = self._values_of(term)
        if not isinstance(term, Formula) or term.operation != "floordiv" or term in self._parts:
            return
        # Without a rest in any recording, or with the same one, quotients look like fractions.
        dividend, divisor = term.operands
        self._tell_apart(Formula("mod", (dividend, divisor)), 0)

        for other in self._parts:
            self._tell_apart(term, other)  # such as (s0 + 1)//2 and s0//2 + 1 where all s0 are odd
        self._parts[term] = self._values_of(term)

    def _tell_apart(self, term: Term, other: Term) -> None:
        """Raises Ambiguous if two terms differ by the same number in all recordings only."""
        difference = Formula("sub", (term, other))
        known = set(self._values_of(difference))
        if len(known) > 1:
            return
        sizes = self.recordings[0]
        for symbol in symbols_in(difference):
            probes = range(sizes[symbol], sizes[symbol] + _LARGEST_PROBE)
            found = [n for n in probes if evaluate(difference, {**sizes, symbol: n}) not in known]
            if found:
                raise Ambiguous(symbol, found)

    def know_real(self, term: Any) -> bool:
        """Adds a real number that the program itself computes; False if all recordings have the same."""
        values = self._values_of(term)
        self._known.setdefault((type(values[0]), values), term)
        return len(set(values)) > 1

    def _values_of(self, term: Any) -> Values:
        return tuple(evaluate(term, sizes) for sizes in self.recordings)


def _is_equal(number: float, other: float) -> bool:
    """Whether two real numbers are equal, but for the last bit."""
    return math.isclose(number, other, rel_tol=4e-16, abs_tol=0.0)


def _products_of(sizes: Mapping[Any, Values]) -> Iterator[tuple[Term, Values]]:
    """Products of up to three sizes, the shortest first."""
    for degree in (1, 2, 3):
        for terms in combinations_with_replacement(sizes, degree):
            yield product(*terms), tuple(map(math.prod, zip(*(sizes[term] for term in terms))))


def _of_products_or_affine(values: Values, products: Sequence[tuple[Term, Values]]) -> Term | None:
    found = _of_products(values, products)
    if found is not None:
        return found
    for term, numbers in products:
        form = _affine_fit(values, numbers)
        if form is not None:
            return affine(form[0], term, form[1])
    return None


def _of_products(values: Values, products: Sequence[tuple[Term, Values]]) -> Term | None:
    """A whole multiple of one of the products, or of up to three of them that come after one another."""
    for length in (1, 2, 3):
        for start in range(len(products) - length + 1):
            part = products[start : start + length]
            numbers = tuple(map(math.prod, zip(*(sizes for _, sizes in part))))
            if 0 in numbers or any(value % number for value, number in zip(values, numbers)):
                continue
            factor = values[0] // numbers[0]
            if all(value == factor * number for value, number in zip(values, numbers)):
                return product(factor, *(term for term, _ in part))
    return None


def _affine_fit(values: Values, numbers: Values) -> tuple[int, int] | None:
    """factor and offset, as integers, so that values = factor * numbers + offset."""
    other = next((i for i, number in enumerate(numbers) if number != numbers[0]), None)
    if other is None:
        return None
    factor, rest = divmod(values[other] - values[0], numbers[other] - numbers[0])
    offset = values[0] - factor * numbers[0]
    fits = rest == 0 and factor != 0
    fits = fits and all(value == factor * number + offset for value, number in zip(values, numbers))
    return (factor, offset) if fits else None


def _rounded_fits(symbol: Symbol, sizes: Values, values: Values) -> Iterator[tuple[int, Term]]:
    """Each with the distance of its offset from 0."""
    for divisor in range(2, _LARGEST_DIVISOR + 1):
        for shift in range(divisor):
            quotients = tuple((size + shift) // divisor for size in sizes)
            form = _affine_fit(values, quotients)
            # Larger offsets fit numbers that have nothing to do with the size.
            if form is not None and abs(form[1]) <= _LARGEST_DIVISOR:
                shifted = affine(1, symbol, shift)
                yield abs(form[1]), affine(form[0], Formula("floordiv", (shifted, divisor)), form[1])


def _whole(number: float, tolerance: float = 1e-12) -> int | None:
    """The integer that a number is, up to rounding."""
    if not math.isfinite(number) or abs(number) > 2**40:
        return None
    nearest = round(number)
    return nearest if math.isclose(number, nearest, rel_tol=tolerance) else None


def _inverse(number: float) -> int | None:
    return _whole(1 / number) if number else None


def _bessel(number: float) -> int | None:
    """n of n / (n - 1)"""
    return _whole(number / (number - 1), 1e-7) if number != 1 else None


# A real number as an integer, and the formula of the number from that of the integer.
_REAL_FORMS: tuple[tuple[Callable[[float], int | None], Callable[[Term], Term]], ...] = (
    (_whole, lambda n: Formula("sym_float", (n,))),
    (_inverse, lambda n: Formula("truediv", (1.0, n))),
    (lambda x: _whole(x * x), lambda n: Formula("sqrt", (n,))),
    (lambda x: _inverse(x * x), lambda n: Formula("truediv", (1.0, Formula("sqrt", (n,))))),
    (_bessel, lambda n: Formula("truediv", (n, affine(1, n, -1)))),
)
