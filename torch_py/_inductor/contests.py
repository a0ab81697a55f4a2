"""What nests replace: the operators between the tensors that they read and those that they make.

The operators can be called in their place, so the two can be raced (race.py).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from torch_py._C._compiler import Program
from torch_py._functorch.aot.partition import is_view
from torch_py._inductor.assemble import Assembly, Named
from torch_py._inductor.entries import key_of_parts
from torch_py._inductor.fuse import Entry
from torch_py._inductor.graph_cache import text_of_graph
from torch_py._inductor.ir import Buffer
from torch_py._inductor.nests import Nest
from torch_py._inductor.stages import CompiledGraph, variant
from torch_py._inductor.statements import Extern, LoopGraph
from torch_py._records import Fields
from torch_py.fx._order import reached
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node


class Contest(Fields):
    """Nests, with the function and the name of each, and the operators that they replace.

    `module` is a graph of these operators, which reads the nodes `inputs`, and `called` are the names of the
    nodes that would be called.
    """

    nests: list[Nest]
    named: Named
    inputs: list[Node]
    called: frozenset[str]
    module: GraphModule

    @property
    def name(self) -> str:
        return ", ".join(kernel.name for kernel, _ in self.named.values())

    @property
    def key(self) -> str:
        """The same for all contests of equal loops and equal operators on tensors of equal sizes."""
        kernels = [
            f"{kernel.key} {kernel.extent} {kernel.grain} {[buffer.facts for buffer in kernel.buffers]}"
            for kernel, _ in self.named.values()
        ]
        return key_of_parts("race", text_of_graph(self.module), *kernels)

    # The two sides

    def loops(self, library: str | None) -> tuple[Program, list[Any]]:
        """A program of the nests alone, and the tensors that it reads, as examples."""
        made = {memory for nest in self.nests for memory in nest.makes()}
        graph = LoopGraph()
        buffers = dict.fromkeys(b for kernel, _ in self.named.values() for b in kernel.buffers)
        graph.inputs = [b for b in buffers if b.memory not in made]
        graph.outputs = [buffer for nest in self.nests for buffer in nest.stored()]
        assembly = Assembly(graph, self.nests, self.named)
        return Program(*assembly.description(library)), graph.inputs

    def calls(self) -> tuple[Program, list[Any]]:
        """A program of calls, and the tensors that it reads, as examples."""
        return variant(self.module, None).program, [node.meta["val"] for node in self.inputs]


# Which contests there are
# ------------------------------------------------------------


def contests_of(compiled: CompiledGraph) -> list[Contest]:
    """The nests of a compiled graph that can be raced.

    Those that store what is not the value of a node, or a part of a tensor, cannot. Nests that compute
    different results of one operator are in one contest: a call computes all of them.
    """
    found = _Search(compiled)
    return [contest for nests in found.groups() if (contest := found.contest(nests)) is not None]


class _Search:
    def __init__(self, compiled: CompiledGraph) -> None:
        self.compiled = compiled
        self.nodes = compiled.graph.nodes
        self.order = {node: number for number, node in enumerate(compiled.module.graph.nodes)}
        self.calls = {entry.name for entry in compiled.schedule if isinstance(entry, Extern)}
        self.makers: dict[Buffer, list[Entry]] = {}
        for entry in compiled.schedule:
            for memory in entry.makes():
                self.makers.setdefault(memory, []).append(entry)

    def groups(self) -> list[list[Nest]]:
        """The nests that are raced together, in the order of the schedule."""
        groups: list[tuple[list[Nest], set[Node]]] = []
        for nest in self.compiled.schedule:
            if not isinstance(nest, Nest) or not self._is_whole(nest):
                continue
            region = self._region([nest])
            if region is None:
                continue
            of_several = {node for node in region[0] if isinstance(node.meta.get("val"), (tuple, list))}
            joined = [group for group in groups if of_several & group[1]]
            for group in joined:
                groups.remove(group)
            nests = [other for group in joined for other in group[0]]
            groups.append(([*nests, nest], of_several.union(*(group[1] for group in joined))))
        return [nests for nests, _ in groups]

    def contest(self, nests: list[Nest]) -> Contest | None:
        found = self._region(nests)
        if found is None:
            return None
        region, inputs = (sorted(nodes, key=self.order.__getitem__) for nodes in found)
        called = frozenset(n.name for n in region if n.target is not operator.getitem and not is_view(n))
        named = {id(nest): self.compiled.named[id(nest)] for nest in nests}
        module = _module_of(region, inputs, self._results(nests))
        return Contest(nests, named, inputs, called, module) if called else None

    def _is_whole(self, nest: Nest) -> bool:
        """Whether it makes whole tensors, which are values of nodes."""
        return all(b in self.nodes and len(self.makers[b.memory]) == 1 for b in nest.stored())

    def _results(self, nests: Iterable[Nest]) -> list[Node]:
        return [self.nodes[buffer] for nest in nests for buffer in nest.stored()]

    def _region(self, nests: list[Nest]) -> tuple[set[Node], set[Node]] | None:
        """The nodes that compute what the nests store, and the nodes that they read.

        None if a node among them is called already.
        """
        own = {id(nest) for nest in nests}
        others = {
            node
            for buffer, node in self.nodes.items()
            if any(id(entry) not in own for entry in self.makers.get(buffer.memory, ()))
        }

        def is_replaced(node: Node) -> bool:
            return node.op == "call_function" and node not in others

        found = list(
            reached(self._results(nests), lambda node: node.all_input_nodes if is_replaced(node) else [])
        )
        region = set(filter(is_replaced, found))
        return None if any(node.name in self.calls for node in region) else (region, set(found) - region)


def _module_of(region: list[Node], inputs: list[Node], results: list[Node]) -> GraphModule:
    """Some nodes of a graph as a graph of their own, in which names are numbers."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for number, node in enumerate(inputs):
        copies[node] = graph.placeholder(f"input_{number}")
        copies[node].meta = dict(node.meta)
    for number, node in enumerate(region):
        copies[node] = graph.node_copy(node, copies.__getitem__)
        copies[node]._rename(f"value_{number}")
    graph.output([copies[node] for node in results])
    return GraphModule({}, graph)
