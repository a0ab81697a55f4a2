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
    """A graph and the nodes of its tensors. Of a graph inside of a node, tensors from outside become inputs
    (`tensors`, in their order), after its own."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.nodes: dict[int, tuple[Tensor, Node]] = {}
        self.tensors: list[Tensor] = []
        self.last_input: Node | None = None

    def placeholder(self, name: str) -> Node:
        """A placeholder whose parameter has a name of its own: they come before all other nodes, in the order
        in which they are made."""
        graph = self.graph
        last = self.last_input
        with graph.inserting_before() if last is None else graph.inserting_after(last):
            self.last_input = graph.placeholder(name)
        self.last_input.target = self.last_input.name
        return self.last_input

    def lift(self, tensor: Tensor) -> Node:
        node = self.placeholder("outside")
        self.nodes[id(tensor)] = tensor, node
        self.tensors.append(tensor)
        return node
