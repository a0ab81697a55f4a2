"""Numbers of a program that depend on sizes, as formulas: printed, evaluated, written as words."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Union

from torch_py._pytorch_names.symbolic_numbers import sym_float
from torch_py._records import Fields, Record


class Symbol(Fields):
    """A size that varies: a dimension that was declared as dynamic. Equal symbols have the same name.

    `samples` are the values that it has in recordings, if only those of a range are possible. Of two symbols
    of which one has to be smaller, it has the smaller `rank`.
    """

    name: str
    min: int = 0
    max: int | None = None
    samples: tuple[int, ...] = ()
    rank: int = 0

    def allows(self, size: int) -> bool:
        """Whether a size is in the range."""
        return self.min <= size and (self.max is None or size <= self.max)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


class Formula(Record):
    """An operator applied to symbols, numbers and formulas."""

    _fields = ("operation", "operands")
    __slots__ = (*_fields, "size")

    def __init__(self, operation: str, operands: tuple[Any, ...]) -> None:
        self.operation = operation
        self.operands = operands
        self.size: int = 1 + sum(getattr(operand, "size", 1) for operand in operands)

    def __str__(self) -> str:
        first, *others = self.operands
        is_bound = self.operation in ("mul", *_QUOTIENTS)
        texts = [
            _in_brackets(first, self.operation == "pow"),
            *(_in_brackets(other, is_bound) for other in others),
        ]
        return OPERATIONS[self.operation][1].format(*texts)

    __repr__ = __str__


Term = Union[Symbol, Formula, int, float]  # noqa: UP007

# What each operation computes, how it is printed, and its sign in C++.
OPERATIONS: dict[str, tuple[Any, str, str]] = {
    "add": (operator.add, "{} + {}", "+"),
    "sub": (operator.sub, "{} - {}", "-"),
    "mul": (operator.mul, "{}*{}", "*"),
    "floordiv": (operator.floordiv, "{}//{}", "//"),
    "mod": (operator.mod, "{}%{}", "%"),
    "max": (max, "max({}, {})", "max"),
    "min": (min, "min({}, {})", "min"),
    # Of real numbers, which guards compute, but the programs of kernels do not.
    "truediv": (operator.truediv, "{}/{}", "/"),
    "pow": (operator.pow, "{}**{}", "**"),
    "sym_float": (sym_float, "float({})", "float"),
}
FUNCTIONS = "cos cosh exp log log2 sin sinh sqrt tan tanh".split()
OPERATIONS.update({name: (getattr(math, name), f"math.{name}({{}})", name) for name in FUNCTIONS})
REAL_SIGNS = frozenset(OPERATIONS[name][2] for name in ("truediv", "pow", "sym_float", *FUNCTIONS))


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_QUOTIENTS = ("floordiv", "truediv", "mod", "pow")


def _in_brackets(term: Term, is_factor: bool = False) -> str:
    if not isinstance(term, Formula):
        text = str(term) if not isinstance(term, float) or math.isfinite(term) else f"float('{term}')"
        return f"({text})" if is_factor and text.startswith("-") else text
    is_loose = term.operation in ("add", "sub", *_QUOTIENTS) or (is_factor and term.operation == "mul")
    return f"({term})" if is_loose else str(term)


def product(*factors: Term) -> Term:
    """The product of sizes: one number, unless it is 1, and the terms."""
    result: Term = math.prod(factor for factor in factors if isinstance(factor, int))
    for factor in factors:
        if not isinstance(factor, int):
            result = factor if result == 1 else Formula("mul", (result, factor))
    return result


def affine(factor: int, term: Term, offset: int) -> Term:
    """factor * term + offset"""
    scaled = product(factor, term)
    if offset == 0:
        return scaled
    return Formula("add", (scaled, offset)) if offset > 0 else Formula("sub", (scaled, -offset))


def evaluate(term: Any, values: Mapping[Any, float]) -> Any:
    """The value of a term, from those of its symbols."""
    if isinstance(term, Symbol):
        return values[term]
    if isinstance(term, Formula):
        return OPERATIONS[term.operation][0](*(evaluate(operand, values) for operand in term.operands))
    return term


def value_of(term: Any, values: Mapping[Any, float]) -> Any:
    """The value of a term; None where it has none, as a quotient by 0 or a root of a negative number."""
    with suppress(ArithmeticError, ValueError):
        value = evaluate(term, values)
        return None if isinstance(value, complex) else value


def replaced(term: Any, leaf_of: Callable[[Symbol], Any]) -> Any:
    """A term with others in the place of its symbols."""
    if isinstance(term, Formula):
        return Formula(term.operation, tuple(replaced(operand, leaf_of) for operand in term.operands))
    return leaf_of(term) if isinstance(term, Symbol) else term


def symbols_in(term: Any) -> set[Symbol]:
    """The declared dimensions that a term depends on."""
    if isinstance(term, Symbol):
        return {term}
    if isinstance(term, Formula):
        return {symbol for operand in term.operands for symbol in symbols_in(operand)}
    return set()


class Relation(Record):
    """A decision of the program: `left sign right` was true."""

    sign: str
    left: Term
    right: Term

    def holds(self, values: Mapping[Any, float]) -> bool:
        """Whether it is true for other sizes, and both sides have a value."""
        left, right = value_of(self.left, values), value_of(self.right, values)
        return None not in (left, right) and bool(COMPARISONS[self.sign](left, right))

    def opposite(self) -> Relation:
        """What is true if this is not."""
        return Relation(_OPPOSITES[self.sign], self.left, self.right)

    def symbols(self) -> set[Symbol]:
        """The sizes that it is about."""
        return symbols_in(self.left) | symbols_in(self.right)

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def cannot_be_negative(term: Term) -> bool:
    """Whether a term is 0 or more for all sizes, as its form shows."""
    if isinstance(term, Formula):
        return term.operation in _GROWING and all(map(cannot_be_negative, term.operands))
    return isinstance(term, Symbol) or term >= 0


_GROWING = ("add", "mul", "floordiv", "mod", "max", "min")


def postfix(term: Any, words_of: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    """A term as C++ computes it, operands before signs: ``("s0", 1, "+", 2, "//")``; `words_of` gives the
    words of symbols."""
    if not isinstance(term, Formula):
        return (term,) if isinstance(term, (int, float)) else words_of(term)
    words = [word for operand in term.operands for word in postfix(operand, words_of)]
    return (*words, OPERATIONS[term.operation][2])
