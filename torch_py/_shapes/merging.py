"""Makes one graph for all sizes of several that were recorded for some sizes each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch_py._shapes.formulas import OPERATIONS, Formula, Symbol, Term
from torch_py._shapes.solver import Solver
from torch_py.fx._arguments import map_aggregate
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

Column = tuple[Node, ...]  # the nodes of one place, one of each graph


class GraphMerge:
    """Compares graphs node by node, and puts formulas in the places of numbers that vary in the first.

    `refuse(node, what)` makes the error for graphs that differ in other ways than formulas explain; `what`
    completes "the program ...".
    """

    def __init__(self, graphs: list[Graph], solver: Solver, refuse: Callable[[Node, str], Exception]) -> None:
        self.graphs = graphs
        self.solver = solver
        self.refuse = refuse
        rows = [list(graph.nodes) for graph in graphs]
        self._check_form(rows)
        self.columns: list[Column] = list(zip(*rows))
        self.positions = [{node: position for position, node in enumerate(row)} for row in rows]

    def merge(self, nodes: dict[Any, Node]) -> None:
        """Changes the first graph, in which `nodes` are those of symbols. Raises Ambiguous if a further
        recording is needed; nothing has been changed then.
        """
        graph = self.graphs[0]
        terms = [
            merged([(node.args, node.kwargs) for node in column], partial(self._argument, column))
            for column in self.columns
        ]

        node_of = partial(_node_of, graph, nodes)
        for (node, *_), arguments in zip(self.columns, terms):
            if arguments != (node.args, node.kwargs):
                with graph.inserting_before(node):
                    node.args, node.kwargs = map_aggregate(arguments, node_of)

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
        return solved(partial(self.solve, column), partial(self._unexplained, column[0]), values)

    def solve(self, column: Column, values: tuple[Any, ...]) -> Term | None:
        """The term of a number among the arguments of a node."""
        return self.solver.solve(values)

    def _unexplained(self, node: Node, values: tuple[Any, ...]) -> Exception:
        shown = ", ".join(map(repr, values))
        what = "an argument that depends on the inputs in a way that no formula of sizes explains"
        return self.refuse(node, f"gives `{node.target}` {what} ({shown})")


def _node_of(graph: Graph, nodes: dict[Any, Node], term: Any) -> Any:
    """The node that computes a term, which is made once, where the graph inserts nodes; other values are
    themselves."""
    if isinstance(term, Formula) and term not in nodes:
        operands = tuple(_node_of(graph, nodes, operand) for operand in term.operands)
        nodes[term] = graph.call_function(OPERATIONS[term.operation][0], operands)
        nodes[term].meta["val"] = term
    return nodes[term] if isinstance(term, (Symbol, Formula)) else term


def solved(
    solve: Callable[[tuple[Any, ...]], Term | None],
    refuse: Callable[[tuple[Any, ...]], Exception],
    values: tuple[Any, ...],
) -> Any:
    """A value that is the same in all recordings, or the term of a number that varies; raises what `refuse`
    makes if `solve` finds none."""
    if not any(_differ(value, values[0]) for value in values):
        return values[0]
    term = solve(values) if all(type(value) in (int, float) for value in values) else None
    if term is None:
        raise refuse(values)
    return term


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
