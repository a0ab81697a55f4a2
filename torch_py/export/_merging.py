"""One graph for all sizes whose numbers may also depend on the sizes of tensors that the graph computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch_py._shapes.formulas import Symbol, Term
from torch_py._shapes.merging import Column, GraphMerge
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

Sizes = tuple[int, ...]


class SizeOf(Symbol):
    """The size of a tensor that the program has computed: the node's position in the graph, and the
    dimension."""

    def __init__(self, position: int, dim: int) -> None:
        super().__init__(f"size({position}, {dim})")
        self.position = position
        self.dim = dim


class ProgramMerge(GraphMerge):
    """Merges graphs whose results may have sizes that depend on values, as those of `nonzero` do."""

    def merge_inputs(self, symbols: Mapping[Symbol, tuple[Node, int]]) -> None:
        """Changes the first graph, and gives its tensors the sizes that hold for all recordings. `symbols`
        are the tensors, and their dimensions, where the sizes of symbols are found."""
        sizes = self._sizes_by_node()
        self.merge(_SizeNodes(self.graphs[0], {**self._computed_sizes(), **symbols}))
        for node, shape in sizes.items():
            node.meta["val"].shape = shape

    def solve(self, column: Column, values: tuple[Any, ...]) -> Term | None:
        return self.solver.solve(values, self._sizes_at_hand(column))

    def _sizes_at_hand(self, column: Column) -> list[tuple[SizeOf, Sizes]]:
        """The sizes of the tensors that a node gets."""
        found = []
        for nodes in zip(*(node.all_input_nodes for node in column)):
            sizes = [_sizes_of(node) for node in nodes]
            if None not in sizes:
                position = self.positions[0][nodes[0]]
                for dim, numbers in enumerate(zip(*sizes)):  # type: ignore[arg-type]
                    found.append((SizeOf(position, dim), numbers))
        return found

    def _computed_sizes(self) -> dict[Symbol, tuple[Node, int]]:
        """Where the sizes of computed tensors are found."""
        return {
            SizeOf(position, dim): (node, dim)
            for node, position in self.positions[0].items()
            for dim in range(len(_sizes_of(node) or ()))
        }

    def _sizes_by_node(self) -> dict[Node, tuple[Any, ...]]:
        """The sizes of the tensors in the first graph; those that no formula explains are SizeOf."""
        return {
            column[0]: tuple(
                self._size(numbers, SizeOf(self.positions[0][column[0]], dim))
                for dim, numbers in enumerate(zip(*map(_sizes_of, column)))  # type: ignore[arg-type]
            )
            for column in self.columns
            if all(_sizes_of(node) is not None for node in column)
        }

    def _size(self, numbers: Sizes, otherwise: SizeOf) -> Any:
        term = self.solver.solution(numbers)
        return otherwise if term is None else term


class _SizeNodes(dict[Any, Node]):
    """The nodes of sizes, which are made where they are needed first."""

    def __init__(self, graph: Graph, places: Mapping[Symbol, tuple[Node, int]]) -> None:
        super().__init__()
        self._graph = graph
        self._places = places

    def __missing__(self, size: Symbol) -> Node:
        node = self._graph.create_node("call_method", "size", self._places[size], {}, name="sym_size_int")
        node.meta["val"] = size
        self[size] = node
        return node


def _sizes_of(node: Node) -> Sizes | None:
    """The sizes of a node's tensor in its recording; None if it has no tensor."""
    return getattr(node.meta.get("val"), "shape", None)
