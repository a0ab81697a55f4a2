"""Proves that conditions of ``requires:`` hold for no arguments.

A condition is false if it is so for all dtypes of its tensors and all values of its terms: dimensions, sizes
and numbers. Terms are compared with literals alone, so that a few values around these literals show all that
can happen. What is about anything else, such as two sizes or memory, may be true or false.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from codegen.dtypes import DTYPE_ALIASES, DTYPES, INTEGER_DTYPES
from codegen.expressions import Node, nodes
from codegen.expressions.simplify import number_of

_MOST_CASES = 20_000
_MOST_DIMS = 64
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
# Properties of a tensor that count, and how many arguments they are asked with.
_COUNTS = {"dim": 1, "numel": 1, "size": 2}
_DTYPE_TESTS: dict[str, Callable[[str], bool]] = {
    "is_complex": lambda dtype: dtype.startswith("complex"),
    "is_floating": lambda dtype: "float" in dtype,
    "is_integral": lambda dtype: dtype in INTEGER_DTYPES,
}

# Values of terms, and the dtypes of tensors by name.
_Case = Mapping[Any, Any]
# Coefficients of terms; that of None is the constant.
_Linear = dict["Node | None", Fraction]


class Arguments:
    """What a condition may ask about: tensors, whole numbers, floating-point numbers and flags, by name."""

    def __init__(
        self,
        tensors: Collection[str] = (),
        integers: Collection[str] = (),
        floats: Collection[str] = (),
        flags: Collection[str] = (),
    ) -> None:
        self.tensors = tensors
        self.integers = integers
        self.floats = floats
        self.flags = flags

    def is_tensor(self, node: Node) -> bool:
        return isinstance(node, nodes.Name) and node.name in self.tensors

    def is_float(self, node: Node) -> bool:
        return isinstance(node, nodes.Name) and node.name in self.floats

    def is_flag(self, node: Node) -> bool:
        return isinstance(node, nodes.Name) and node.name in self.flags

    def is_whole(self, node: Node) -> bool:
        """Whether a node is a whole number that is not computed from others."""
        if isinstance(node, nodes.Name):
            return node.name in self.integers or node.name in self.flags
        return self.is_count(node)

    def is_count(self, node: Node) -> bool:
        is_known = isinstance(node, nodes.Call) and _COUNTS.get(node.function) == len(node.arguments)
        return is_known and self.is_tensor(nodes.children(node)[0])


def can_hold(
    condition: Node,
    arguments: Arguments,
    dtype_sets: Mapping[str, Collection[str]],
    dtypes: Sequence[str] = DTYPES,
) -> bool:
    """Whether a condition may hold for some arguments, whose tensors are of ``dtypes``."""
    told = _Conditions(arguments, dtype_sets)
    choices = told.choices(condition, dtypes)
    if math.prod(map(len, choices.values())) > _MOST_CASES:
        return True
    cases = (dict(zip(choices, values)) for values in product(*choices.values()))
    return any(told.holds(condition, case) is not False for case in cases)


class _Conditions:
    """Conditions over ``arguments``, in a case; None stands for true or false."""

    def __init__(self, arguments: Arguments, dtype_sets: Mapping[str, Collection[str]]) -> None:
        self.arguments = arguments
        self.dtype_sets = dtype_sets

    def choices(self, condition: Node, dtypes: Sequence[str]) -> dict[Any, Sequence[Any]]:
        """The values that a case chooses from: for each term, and for the dtype of each tensor."""
        found: dict[Any, Sequence[Any]] = {}
        roots: dict[Node, set[Fraction]] = {}

        for node in nodes.walk(condition):
            if self.asks_for_dtype(node):
                (tensor,) = nodes.children(node)
                found[tensor] = dtypes
            elif self.arguments.is_flag(node):
                roots.setdefault(node, set())
            elif isinstance(node, nodes.Compare):
                for left, right in pairwise(node.operands):
                    for term, root in self.roots(left, right):
                        roots.setdefault(term, set()).add(root)

        return found | {term: self.values(term, sorted(at)) for term, at in roots.items()}

    def asks_for_dtype(self, node: Node) -> bool:
        if not isinstance(node, nodes.Call) or len(node.arguments) != 1:
            return False
        return node.function in (*_DTYPE_TESTS, "dtype") and self.arguments.is_tensor(node.arguments[0])

    def roots(self, left: Node, right: Node) -> Iterator[tuple[Node, Fraction]]:
        """The term that is compared, and where what the comparison tells of it changes."""
        for term, other in ((left, right), (right, left)):
            if self.arguments.is_float(term):
                literal = number_of(other)
                if literal is not None or term == other:
                    yield term, literal or Fraction(0)

        found = self.difference(left, right)
        terms = [] if found is None else [term for term in found if term is not None]
        if found is not None and len(terms) == 1:
            yield terms[0], -found.get(None, Fraction(0)) / found[terms[0]]

    def values(self, term: Node, roots: Sequence[Fraction]) -> Sequence[Any]:
        """Values of a term: at its roots, between them and outside of them."""
        if self.arguments.is_float(term):
            between = [(low + high) / 2 for low, high in pairwise(roots)]
            return [*roots, *between, roots[0] - 1, roots[-1] + 1, math.nan, math.inf, -math.inf]
        if self.arguments.is_flag(term):
            return (0, 1)

        near = {math.floor(root) + step for root in roots for step in (-1, 0, 1, 2)}
        if not self.arguments.is_count(term):
            return sorted(near)
        is_dim = isinstance(term, nodes.Call) and term.function == "dim"
        most = _MOST_DIMS if is_dim else math.inf
        return sorted({0, *(n for n in near if 0 <= n <= most), *((_MOST_DIMS,) if is_dim else ())})

    # Truth

    def holds(self, node: Node, case: _Case) -> bool | None:
        if isinstance(node, nodes.Boolean):
            return node.value
        if self.arguments.is_flag(node):
            return bool(case[node])

        if isinstance(node, nodes.Unary) and node.operator == "not":
            return _negated(self.holds(node.operand, case))

        if isinstance(node, nodes.Logical):
            parts = (self.holds(part, case) for part in (node.left, node.right))
            return _all(parts) if node.operator == "and" else _negated(_all(map(_negated, parts)))
        if isinstance(node, nodes.Compare):
            pairs = zip(node.operators, node.operands, node.operands[1:])
            return _all(self.compares(symbol, left, right, case) for symbol, left, right in pairs)

        if isinstance(node, nodes.Call) and node.function in _DTYPE_TESTS and self.asks_for_dtype(node):
            return _DTYPE_TESTS[node.function](case[node.arguments[0]])
        return None

    def compares(self, symbol: str, left: Node, right: Node, case: _Case) -> bool | None:
        if self.is_dtype(left) or self.is_dtype(right):
            return self.compares_dtypes(symbol, left, right, case)
        if symbol not in _COMPARE:
            return None

        if self.arguments.is_float(left) or self.arguments.is_float(right):
            values = [self.float_value(node, case) for node in (left, right)]
            told = None not in values and (left == right or not self.are_floats(left, right))
            return _COMPARE[symbol](*values) if told else None

        difference = self.difference(left, right)
        if difference is None or len(difference.keys() - {None}) > 1:
            return None
        return _COMPARE[symbol](sum(n * (1 if t is None else case[t]) for t, n in difference.items()), 0)

    def are_floats(self, left: Node, right: Node) -> bool:
        return self.arguments.is_float(left) and self.arguments.is_float(right)

    def float_value(self, node: Node, case: _Case) -> Any:
        return case.get(node) if self.arguments.is_float(node) else number_of(node)

    # Whole numbers

    def difference(self, left: Node, right: Node) -> _Linear | None:
        """``left - right``, without the terms that cancel; a literal may be any number."""
        sides: list[_Linear | None] = []
        for side in (left, right):
            literal = number_of(side) if isinstance(side, (nodes.Number, nodes.Unary)) else None
            sides.append(self.linear(side) if literal is None else {None: literal})
        return _added(sides[0], sides[1], -1)

    def linear(self, node: Node) -> _Linear | None:
        """A sum of multiples of whole numbers; None for anything else."""
        if isinstance(node, nodes.Number) and isinstance(node.value, int):
            return {None: Fraction(node.value)}
        if isinstance(node, nodes.Boolean):
            return {None: Fraction(node.value)}
        if self.arguments.is_whole(node):
            return {node: Fraction(1)}
        if isinstance(node, nodes.Unary) and node.operator == "-":
            return _added({}, self.linear(node.operand), -1)
        if not isinstance(node, nodes.Binary):
            return None

        left = self.linear(node.left)
        right = self.linear(node.right)
        if node.operator in ("+", "-"):
            return _added(left, right, 1 if node.operator == "+" else -1)
        if node.operator == "*" and left is not None and right is not None:
            factor, terms = (left, right) if left.keys() <= {None} else (right, left)
            return _added({}, terms, factor.get(None, 0)) if factor.keys() <= {None} else None
        return None

    # Dtypes

    def is_dtype(self, node: Node) -> bool:
        return isinstance(node, nodes.Call) and node.function == "dtype"

    def compares_dtypes(self, symbol: str, left: Node, right: Node, case: _Case) -> bool | None:
        found = self.dtypes(left, case)
        other = self.dtypes(right, case)
        if found is None or other is None:
            return None
        if symbol in ("in", "not in"):
            return (found <= other) is (symbol == "in")
        return (found == other) is (symbol == "==") if symbol in ("==", "!=") else None

    def dtypes(self, node: Node, case: _Case) -> frozenset[str] | None:
        if isinstance(node, nodes.ListOf):
            items = [self.dtypes(item, case) for item in node.items]
            known = [item for item in items if item is not None]
            return frozenset().union(*known) if len(known) == len(items) else None
        if isinstance(node, nodes.Name):
            name = DTYPE_ALIASES.get(node.name, node.name)
            is_known = name in DTYPES or name in self.dtype_sets
            return frozenset(self.dtype_sets.get(name, (name,))) if is_known else None
        if self.is_dtype(node) and self.asks_for_dtype(node):
            return frozenset((case[nodes.children(node)[0]],))
        return None


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value


def _all(values: Iterator[bool | None]) -> bool | None:
    found = list(values)
    return False if False in found else None if None in found else True


def _added(left: _Linear | None, right: _Linear | None, factor: Fraction | int) -> _Linear | None:
    """``left + factor * right``."""
    if left is None or right is None:
        return None
    found = dict(left)
    for term, coefficient in right.items():
        found[term] = found.get(term, Fraction(0)) + factor * coefficient
    return {term: coefficient for term, coefficient in found.items() if coefficient}
