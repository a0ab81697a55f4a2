"""The graphs of a capture and what they get from outside: a graph inside of a node has a scope of its own."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo.sources import Source
from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node


class Input(Fields):
    """A tensor that the graph gets from outside, or a number that varies."""

    real: Any
    source: Source
    node: Node
    fake: Any


class Scope:
    """A graph inside of a node: tensors from outside become inputs of it (`tensors`, in their order)."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.nodes: dict[int, tuple[Tensor, Node]] = {}
        self.tensors: list[Tensor] = []
        self._placeholders: list[Node] = []

    def lift(self, tensor: Tensor) -> Node:
        with self.graph.inserting_before():
            node = placeholder(self.graph, "outside")
        self.nodes[id(tensor)] = tensor, node
        self.tensors.append(tensor)
        self._placeholders.append(node)
        return node

    def move_lifted_to_the_end(self) -> None:
        """Makes the placeholders of lifted tensors the last ones."""
        own = [n for n in self.graph.nodes if n.op == "placeholder" and n not in self._placeholders]
        last = own[-1] if own else None
        for node in self._placeholders:
            if last is not None:
                last.append(node)
            last = node


def placeholder(graph: Graph, name: str) -> Node:
    """A placeholder whose parameter has a name of its own."""
    node = graph.placeholder(name)
    node.target = node.name
    return node
