"""Formulas of native_functions.yaml (`torch_py/_generated/lowerings.py`) as values of the loop graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

from torch_py._inductor.ir import TRUTH, Cast, Const, Expr, Map, cast
from torch_py._shapes.formulas import COMPARISONS

_PREDICATES = frozenset(["isnan", "isinf", "signbit"])
# What arithmetic on truth values means.
_OF_TRUTH = {"+": "or", "*": "and", "maximum": "or", "minimum": "and"}
# Names of functions that are the same for truth values.
_BITWISE = frozenset(["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"])
_LARGEST_PRODUCT = 4
# Divisions that take as many steps as their operands need: loops over them are not vectorised, operators are.
_STEPWISE = frozenset(["%", "fmod"])


class NotLoweredError(Exception):
    """An operator, or one with such arguments, has no loop: it is called."""


class Formula:
    """Makes values of a formula. Numbers are of the dtype `computed`, and names stand for them.

    An argument is a value, None, or a string or number of Python.
    """

    __slots__ = ("arguments", "computed")

    def __init__(self, arguments: Mapping[str, Any], computed: Any) -> None:
        self.arguments = arguments
        self.computed = computed

    def value(self, tree: Any) -> Expr:
        """The value of a formula, a truth value or a number."""
        if isinstance(tree, str):
            return self._name(tree)
        if not isinstance(tree, tuple):
            return Const(tree, self.computed)

        word, *operands = tree
        if word == "is_none":
            return Const(self.arguments[operands[0]] is None, TRUTH)
        if word in ("and", "or", "not"):
            return self._logical(word, operands)
        if word == "where":
            return self._where(*operands)
        if word in COMPARISONS or word in _PREDICATES:
            return Map(word, [self.number(o) for o in operands], TRUTH)

        if self.computed == TRUTH:
            return self._of_truth(word, operands)
        if word == "**" or word == "pow":
            return self._power(*operands)
        return self._arithmetic(word, [self.number(o) for o in operands])

    def number(self, tree: Any) -> Expr:
        return cast(self.value(tree), self.computed)

    def condition(self, tree: Any) -> Expr:
        """Whether the value of a formula is not zero."""
        value = self.value(tree)
        if value.dtype == TRUTH:
            return value
        if isinstance(value, Cast) and value.value.dtype == TRUTH:
            return value.value
        return Map("!=", [value, Const(0, value.dtype)], TRUTH)

    def _name(self, name: str) -> Expr:
        argument = self.arguments[name]
        if isinstance(argument, Expr):
            return cast(argument, self.computed)
        if isinstance(argument, (bool, int, float)):
            return Const(argument, self.computed)
        raise NotLoweredError(f"argument '{name}' is {argument!r}")

    def _logical(self, word: str, operands: list[Any]) -> Expr:
        values = [self.condition(o) for o in operands]
        if word == "not" and isinstance(values[0], Const):
            return Const(not values[0].value, TRUTH)
        return Map(word, values, TRUTH)

    def _where(self, condition: Any, then: Any, otherwise: Any) -> Expr:
        test = self.condition(condition)
        if isinstance(test, Const):
            return self.value(then if test.value else otherwise)
        return Map("where", [test, self.number(then), self.number(otherwise)], self.computed)

    def _of_truth(self, word: str, operands: list[Any]) -> Expr:
        if word not in _OF_TRUTH and word not in _BITWISE:
            raise NotLoweredError(f"'{word}' of truth values")
        return Map(_OF_TRUTH.get(word, word), [self.condition(o) for o in operands], TRUTH)

    def _arithmetic(self, word: str, values: list[Expr]) -> Expr:
        if word == "*" and isinstance(values[0], Const) and values[0].value == 1:
            return values[1]
        if word == "conj":
            return values[0]
        if word in _STEPWISE:
            raise NotLoweredError(f"'{word}' is a loop of its own for each element")
        if word == "pow" and not self.computed.is_floating_point:
            raise NotLoweredError("'pow' of integers, which checks for negative exponents")
        return Map(word, values, self.computed)

    def _power(self, base: Any, exponent: Any) -> Expr:
        """A product, a root or a reciprocal where the exponent says so."""
        left, right = self.number(base), self.number(exponent)
        is_real = self.computed.is_floating_point
        power = right.value if isinstance(right, Const) else math.nan
        if power == 0.5 and is_real:
            return Map("sqrt", [left], self.computed)
        if power % 1 != 0 or abs(power) > 64 or (power < 0 and not is_real):
            return self._arithmetic("pow", [left, right])

        count = int(abs(power))
        if count == 0:
            return Const(1, self.computed)
        if count <= _LARGEST_PRODUCT:
            result = reduce(lambda a, b: Map("*", [a, b], self.computed), [left] * count)
        else:
            result = Map("integer_power", [left, Const(count, self.computed)], self.computed)
        return result if power > 0 else Map("/", [Const(1, self.computed), result], self.computed)
