"""Makes one graph for all sizes of several that were recorded for some sizes each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torch_py._shapes.formulas import FormulaWriter, SizeOf, Symbol, Term
from torch_py._shapes.solver import Solver
from torch_py.fx._arguments import map_aggregate
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

Sizes = tuple[int, ...]
Column = tuple[Node, ...]  # the nodes of one place, one of each graph


class GraphMerge:
    """Compares graphs node by node, and puts formulas in the places of numbers that vary in the first.

    `refuse(node, what)` makes the error for graphs that differ in other ways than formulas explain; `what`
    completes "the program ...". Without `reads_results`, numbers may not depend on sizes of tensors that the
    graph computes.
    """

    def __init__(
        self,
        graphs: list[Graph],
        solver: Solver,
        refuse: Callable[[Node, str], Exception],
        reads_results: bool = True,
    ) -> None:
        self.graphs = graphs
        self.solver = solver
        self.refuse = refuse
        self.reads_results = reads_results
        rows = [list(graph.nodes) for graph in graphs]
        self._check_form(rows)
        self.columns: list[Column] = list(zip(*rows))
        self.positions = [{node: position for position, node in enumerate(row)} for row in rows]

    def merge(self, symbols: Mapping[Symbol, tuple[Node, int] | Node]) -> None:
        """Changes the first graph. `symbols` are the tensors of the first graph, and their dimensions, where
        the sizes of symbols are found, or nodes that are sizes. Raises Ambiguous if a further recording is
        needed; nothing has been changed then.
        """
        solved = [
            merged([(node.args, node.kwargs) for node in column], partial(self._argument, column))
            for column in self.columns
        ]

        writer = FormulaWriter(self.graphs[0], {**self._computed_sizes(), **symbols})
        for (node, *_), arguments in zip(self.columns, solved):
            if arguments != (node.args, node.kwargs):
                node.args, node.kwargs = map_aggregate(arguments, partial(writer.write, before=node))

    # Are they the same program?

    def _check_form(self, rows: list[list[Node]]) -> None:
        first = rows[0]
        for other in rows[1:]:
            for mine, theirs in zip(first, other):
                if (mine.op, mine.target) != (theirs.op, theirs.target):
                    what = f"calls `{mine.target}` for some inputs and `{theirs.target}` for others"
                    raise self.refuse(mine, what)
            if len(first) != len(other):
                raise self.refuse(first[-1], "calls a number of operators that depends on the inputs")

    # Arguments

    def _argument(self, column: Column, values: tuple[Any, ...]) -> Any:
        """The argument of a node; a term if it varies."""
        first = values[0]
        if any(isinstance(value, (tuple, list, dict)) for value in values):
            raise self.refuse(column[0], f"gives `{column[0].target}` lists of different lengths")
        if isinstance(first, Node):
            places = {self.positions[i].get(value) for i, value in enumerate(values)}
            if len(places) > 1:
                what = f"gives `{column[0].target}` different values for different inputs"
                raise self.refuse(column[0], what)
            return first
        return self._solved(column, values) if any(_differ(value, first) for value in values) else first

    def _solved(self, column: Column, values: tuple[Any, ...]) -> Term:
        term = None
        if all(type(value) in (int, float) for value in values):
            term = self.solver.solve(values, self._sizes_at_hand(column))
        if term is None:
            shown = ", ".join(map(repr, values))
            raise self.refuse(
                column[0],
                f"gives `{column[0].target}` an argument that depends on the inputs in a way that no "
                f"formula of sizes explains ({shown})",
            )
        return term

    def _sizes_at_hand(self, column: Column) -> list[tuple[SizeOf, Sizes]]:
        """The sizes of the tensors that a node gets."""
        if not self.reads_results:
            return []
        found = []
        for nodes in zip(*(node.all_input_nodes for node in column)):
            sizes = [sizes_of(node) for node in nodes]
            if None not in sizes:
                position = self.positions[0][nodes[0]]
                for dim, numbers in enumerate(zip(*sizes)):  # type: ignore[arg-type]
                    found.append((SizeOf(position, dim), numbers))
        return found

    def _computed_sizes(self) -> dict[Any, tuple[Node, int]]:
        """Where the sizes of computed tensors are found."""
        return {
            SizeOf(position, dim): (node, dim)
            for node, position in self.positions[0].items()
            for dim in range(len(sizes_of(node) or ()))
        }

    # Sizes of results

    def sizes_by_node(self) -> dict[Node, tuple[Any, ...]]:
        """The sizes of the tensors in the first graph; those that no formula explains are SizeOf."""
        return {
            column[0]: tuple(
                self._size(numbers, SizeOf(self.positions[0][column[0]], dim))
                for dim, numbers in enumerate(zip(*map(sizes_of, column)))  # type: ignore[arg-type]
            )
            for column in self.columns
            if all(sizes_of(node) is not None for node in column)
        }

    def _size(self, numbers: Sizes, otherwise: SizeOf) -> Any:
        term = self.solver.solution(numbers)
        return otherwise if term is None else term


def sizes_of(node: Node) -> Sizes | None:
    """The sizes of a node's tensor in its recording; None if it has no tensor."""
    return getattr(node.meta.get("val"), "shape", None)


def merged(values: Sequence[Any], leaf: Callable[[tuple[Any, ...]], Any]) -> Any:
    """A nest of tuples, lists and dictionaries for several of one form, with what `leaf` makes of leaves.

    Containers of different lengths are leaves.
    """
    first = values[0]
    are_alike = all(type(value) is type(first) for value in values)
    if isinstance(first, (tuple, list)) and are_alike and len(set(map(len, values))) == 1:
        found = [merged(items, leaf) for items in zip(*values)]
        return found if isinstance(first, list) else tuple(found)  # a Size has numbers only
    if isinstance(first, dict) and all(value.keys() == first.keys() for value in values):
        return {key: merged([value[key] for value in values], leaf) for key in first}
    return leaf(tuple(values))


def _differ(value: Any, other: Any) -> bool:
    if value != value and other != other:  # nan
        return False
    return type(value) is not type(other) or bool(value != other)
