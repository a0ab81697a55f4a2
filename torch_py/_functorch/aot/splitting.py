"""A joint graph, and its parts: one graph for the call and one for backward."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from torch_py._functorch.aot.forms import is_random
from torch_py._functorch.aot.traced import BACKWARD
from torch_py._functorch.aot.views import aliased_argument
from torch_py._shapes.formulas import Formula, Symbol
from torch_py.fx._arguments import nodes_in
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx._order import reached
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node


class Joint:
    """A joint graph: `forward_outputs` of the call, `gradients`, and the nodes that need tangents."""

    def __init__(self, module: GraphModule, num_outputs: int) -> None:
        self.module = module
        results: Any = module.graph.output_node().args[0]
        self.forward_outputs = list(results[:num_outputs])
        self.gradients = list(results[num_outputs:])
        self.forward = {node for node in module.graph.nodes if BACKWARD not in node.meta}

    # What is kept for backward
    # ------------------------------------------------------------

    def kept_by_default(self) -> list[Node]:
        """What nodes of backward use of the forward graph, through views: the memory behind them."""

        def is_kept(node: Node) -> bool:
            return node in self.forward and not is_tangent(node) and not is_view(node)

        def sources(node: Node) -> list[Node]:
            return [] if is_tangent(node) or is_kept(node) else node.all_input_nodes

        used = reached(nodes_in(self.gradients), sources)
        return sorted(node for node in used if is_kept(node) and node.op != "get_attr")

    # The two graphs
    # ------------------------------------------------------------

    def split(self, kept: list[Node]) -> tuple[GraphModule, GraphModule]:
        """The forward graph, which also returns `kept`, and the backward graph, which begins with these."""
        inputs = self.module.graph.find_nodes(op="placeholder")
        primals = [node for node in inputs if not is_tangent(node)]
        tangents = [node for node in inputs if is_tangent(node)]
        # Sizes of backward follow from all symbols.
        kept = [*kept, *(n for n in primals if isinstance(n.meta["val"], Symbol) and n not in kept)]

        forward = _Extraction(primals)
        results = [*self.forward_outputs, *kept]
        drawn = [node for node in self.forward if is_random(node.target)]
        for node in sorted(reached_from([*nodes_in(results), *drawn])):
            forward.add(node)

        # What is computed again comes directly before its first use.
        backward = _Extraction([*kept, *tangents])
        needed = reached_from(nodes_in(self.gradients), frozenset(kept))
        for node in sorted(needed - self.forward):
            backward.add(node)

        return self._module(forward, results, "forward"), self._module(backward, self.gradients, "backward")

    def _module(self, extraction: _Extraction, outputs: list[Node | None], name: str) -> GraphModule:
        graph = extraction.graph
        graph.output([None if node is None else extraction.add(node) for node in outputs])
        return _LazyGraphModule(self.module, graph, name)


class _Extraction:
    """A new graph that begins with `inputs`, nodes of another one."""

    def __init__(self, inputs: list[Node]) -> None:
        self.graph = Graph()
        self._copies: dict[Node, Node] = {}
        for node in inputs:
            self._copies[node] = self.graph.placeholder(node.name)
            self._copies[node].meta = dict(node.meta)

    def add(self, node: Node) -> Node:
        """Adds a node, and before it what it is computed from; what is there stays as it is."""
        copies = self._copies

        def missing(nodes: Iterable[Node]) -> list[Node]:
            return [one for one in nodes if one not in copies]

        for one in sorted(reached(missing([node]), lambda one: missing(one.all_input_nodes))):
            copies[one] = self.graph.node_copy(one, copies.__getitem__)
        return copies[node]


def reached_from(ends: Iterable[Node], stops: frozenset[Node] = frozenset()) -> set[Node]:
    """The nodes that `ends` are computed from, and themselves; not what `stops` are computed from."""
    return set(reached(ends, lambda node: [] if node in stops else node.all_input_nodes))


def memory_of(node: Node) -> Node:
    """The value whose memory a node reads."""
    while is_view(node):
        node = node.all_input_nodes[0]
    return node


def is_tangent(node: Node) -> bool:
    """Whether a node is an input of the joint graph that stands for the gradient of an output."""
    return node.op == "placeholder" and BACKWARD in node.meta


def is_view(node: Node) -> bool:
    """Whether a node computes nothing: it reads the memory of another, is one of its results, or a size."""
    if node.op != "call_function":
        return False
    if isinstance(node.meta.get("val"), Formula):
        return True
    if node.target is operator.getitem:
        source: Any = node.args[0]
        return is_view(source)
    schema = getattr(node.target, "_schema", None)
    return schema is not None and not schema.is_mutable and aliased_argument(node) is not None
