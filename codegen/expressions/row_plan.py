"""Plans the passes over a row (Note [Stages of a formula over rows], aten/iteration/RowStages.h)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from codegen.expressions import nodes
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Call, Compare, Name, Node, Number
from codegen.expressions.print_cpp_scalar import is_truth_value
from codegen.expressions.rows import (
    REDUCTIONS,
    Reduction,
    outermost_reductions,
    reductions_of,
    replaced,
    varies,
    without_means,
)

# Functions that are computed again rather than kept: they take no longer than to read a number.
_CHEAP = ("sqrt", "rsqrt", "reciprocal")


class Pass(NamedTuple):
    """Reads a row: reduces elements to row values, and keeps elements for later passes."""

    reductions: tuple[tuple[str, Reduction, Node], ...]  # the row value, how, and of what
    kept: tuple[tuple[str, Node], ...]


class Value(NamedTuple):
    """A row value that is computed from others."""

    name: str
    node: Node


class RowPlan(NamedTuple):
    """The stages, and the formula of the result over row values and elements."""

    stages: tuple[Pass | Value, ...]
    finish: Node

    @property
    def passes(self) -> tuple[Pass, ...]:
        return tuple(stage for stage in self.stages if isinstance(stage, Pass))


def plan_rows(
    expr: Node, elements: Sequence[str], taken: Collection[str] = (), keeps: bool = True
) -> RowPlan:
    """The plan of ``expr``; row values and kept elements get names that are not ``taken``.

    Unless ``keeps``, later passes compute elements again.
    """
    return _Planner(without_means(expr), frozenset(elements), frozenset(taken), keeps).plan()


class _Planner:
    def __init__(self, expr: Node, elements: frozenset[str], taken: frozenset[str], keeps: bool) -> None:
        self.expr = expr
        self.keeps = keeps
        self.elements = elements
        self.taken = set(taken)
        self.names: dict[Node, Node] = {}  # what has been computed, and its name
        self.stages: list[Pass | Value] = []

    def plan(self) -> RowPlan:
        levels: dict[int, list[Call]] = {}
        for reduction in reductions_of(self.expr):
            levels.setdefault(_depth(reduction), []).append(reduction)

        # What each pass reads, and the result, which is the last pass if it varies along the row.
        reads = [[r.arguments[0] for r in levels[depth]] for depth in sorted(levels)]
        reads.append([self.expr] if varies(self.expr, self.elements) else [])
        repeated = self.repeated(reads) if self.keeps else {}

        for position, depth in enumerate(sorted(levels)):
            self.hoist(reads[position])
            self.add_pass(levels[depth], [k for k in repeated if repeated[k] == position])
        self.hoist(reads[-1])
        return RowPlan(tuple(self.stages), self.known(self.expr))

    def add_pass(self, reductions: list[Call], kept: list[Node]) -> None:
        maps = [self.known(_reduced(r)) for r in reductions]
        formulas = [self.known(part) for part in kept]
        names = [self.name_of("row", r) for r in reductions]
        kept_names = [self.name_of("kept", part) for part in kept]
        self.stages.append(
            Pass(
                tuple((n, REDUCTIONS[r.function], m) for n, r, m in zip(names, reductions, maps)),
                tuple(zip(kept_names, formulas)),
            )
        )

    def name_of(self, kind: str, node: Node) -> str:
        number = 0
        while f"{kind}{number}" in self.taken:
            number += 1
        name = f"{kind}{number}"
        self.taken.add(name)
        self.names[node] = Name(name)
        return name

    def known(self, node: Node) -> Node:
        return replaced(node, self.names)

    def repeated(self, reads: list[list[Node]]) -> dict[Node, int]:
        """Elements that take long and are needed in several passes -> the first of these."""
        first: dict[Node, int] = {}
        found: dict[Node, int] = {}
        for position, formulas in enumerate(reads):
            for part in dict.fromkeys(p for formula in formulas for p in self.costly(formula)):
                if part in first and first[part] < position:
                    found.setdefault(part, first[part])
                first.setdefault(part, position)
        return found

    def costly(self, node: Node) -> Iterator[Node]:
        """The outermost calls of functions that take long, outside of reductions."""
        if isinstance(node, Call) and node.function in REDUCTIONS:
            return
        function = FUNCTIONS.get(node.function) if isinstance(node, Call) else None
        if function is not None and function.float_result and function.name not in _CHEAP:
            if varies(node, self.elements):
                yield node
                return
        for part in nodes.children(node):
            yield from self.costly(part)

    def hoist(self, formulas: list[Node]) -> None:
        """Row values of the parts that are computed from others and the same along a row."""
        for formula in formulas:
            for part in self.constant_parts(formula):
                if part not in self.names:
                    node = self.known(part)
                    self.stages.append(Value(self.name_of("row", part), node))

    def constant_parts(self, node: Node) -> Iterator[Node]:
        if node in self.names or isinstance(node, (Name, nodes.Number, nodes.Boolean)):
            return
        is_condition = isinstance(node, (nodes.Compare, nodes.Logical, nodes.Unary))
        if not varies(node, self.elements) and not is_condition and outermost_reductions(node):
            if not (isinstance(node, Call) and node.function in REDUCTIONS):
                yield node
            return
        for part in nodes.children(node):
            yield from self.constant_parts(part)


def _reduced(reduction: Call) -> Node:
    """What is reduced: truth values by any and all, which take numbers as well."""
    (elements,) = reduction.arguments
    if not REDUCTIONS[reduction.function].boolean or is_truth_value(elements):
        return elements
    return Compare(("!=",), (elements, Number(0)))


def _depth(node: Node) -> int:
    """How many passes come before what ``node`` is computed from is known."""
    inner = {r for part in nodes.children(node) for r in outermost_reductions(part)}
    return 1 + max(map(_depth, inner), default=0)
