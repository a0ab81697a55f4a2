"""Which tensors a program may not change between a call and its backward, besides what backward gets.

Backward computes some values again that eager mode keeps, and keeps others in tensors of its own. Eager mode
raises an error if a tensor that it has kept was changed in place, and so does compiled code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py._functorch.aot.partition import Joint, is_tangent, is_view, memory_of
from torch_py._functorch.aot.recipes import BACKWARD, Own, Traced
from torch_py._functorch.aot.runtime.training import tangents_of_nodes
from torch_py.fx._order import reached
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

# Whether it is an input of the graph rather than an output, its position, how often the caller changes it
# after the graph, and the tangents that need it (see `_C._compiler.CompiledGraph`).
Watch = tuple[bool, int, int, list[int]]

UNUSED = "in_unused_backward"  # a fact of nodes, see `note_unused`


class Kept:
    """What eager mode keeps of a program, as far as callers can change it."""

    def __init__(self, traced: Traced) -> None:
        """To be made before the joint graph is changed."""
        self._joint = Joint(traced.module, traced.num_outputs)
        graph = traced.module.graph
        self._tangents = tangents_of_nodes(graph, filter(is_tangent, graph.nodes))
        self._found: list[tuple[str, Watch]] = []  # with the name of the value that backward may get

        kept = set(self._joint.kept_by_default())
        inputs = graph.find_nodes(op="placeholder")[: len(traced.inputs)]
        changed = {change.value: change for change in traced.changes}
        changed_inputs = {change.input for change in traced.changes}
        for position, node in enumerate(inputs):
            if (node in kept or UNUSED in node.meta) and position not in changed_inputs:
                self._add(node.name, node, True, position, 0)
        for position, node in enumerate(self._joint.forward_outputs):
            for memory in _memories_of(node) if isinstance(node, Node) else ():
                if memory not in kept and UNUSED not in memory.meta:
                    continue
                if position in changed:
                    change = changed[position]
                    self._add("", memory, True, change.input, int(change.is_counted))
                elif memory is memory_of(node):
                    self._add(node.name, memory, False, position, 0)

        # Other sources are new tensors in each call; programs that reshape arguments change them in other
        # ways, too.
        reshaped = {Own(reshaping.argument) for reshaping in traced.reshapings}
        self._whole = {i for i, s in enumerate(traced.inputs) if isinstance(s, Own) and s not in reshaped}

    def _add(self, name: str, node: Node, is_input: bool, position: int, writes: int) -> None:
        self._found.append((name, (is_input, position, writes, self._tangents_that_need(node))))

    def watches(self, backward: GraphModule) -> list[Watch]:
        """What backward does not get by itself, of which versions are checked anyway."""
        given = {node.name for node in backward.graph.find_nodes(op="placeholder")}
        return [
            watch
            for name, watch in self._found
            if name not in given and (not watch[0] or watch[1] in self._whole)
        ]

    def _tangents_that_need(self, node: Node) -> list[int]:
        """The tangents that meet a value of the call, or what follows from it alone, in backward."""

        def following(one: Node) -> list[Node]:
            is_view_of_call = one in self._joint.forward and is_view(one)
            without_tangent = one not in self._joint.forward and not self._tangents[one]
            return list(one.users) if one is node or is_view_of_call or without_tangent else []

        users = [one for one in reached([node], following) if one not in self._joint.forward]
        return sorted(set(node.meta.get(UNUSED, ())).union(*(self._tangents[user] for user in users)))


def _memories_of(node: Node) -> Iterator[Node]:
    """The memory of a value, and that of its parts: those are values of their own, which `slice_scatter` and
    the like have put together."""
    memory = memory_of(node)
    yield memory
    while getattr(memory.target, "_opname", "").endswith("_scatter"):
        arguments: Any = memory.args
        yield memory_of(arguments[1])
        memory = memory_of(arguments[0])


def note_unused(graph: Graph) -> None:
    """Records, on each value of the call, the tangents that meet it in parts of backward that no gradient
    needs.

    Derivatives that are always zero have such parts. Eager mode runs them, and they are about to be removed
    from `graph`.
    """
    dead: set[Node] = set()
    for node in reversed(graph.nodes):
        if BACKWARD in node.meta and node.op == "call_function" and dead.issuperset(node.users):
            dead.add(node)
    if not dead:
        return

    tangents = tangents_of_nodes(graph, filter(is_tangent, graph.nodes))
    for node in dead:
        if tangents[node]:
            for value in _values_of_call(node, tangents):
                value.meta[UNUSED] = value.meta.get(UNUSED, frozenset()) | tangents[node]


def _values_of_call(node: Node, tangents: dict[Node, frozenset[int]]) -> list[Node]:
    """The memory of the call that a node of backward reads without the help of a tangent."""

    def sources(one: Node) -> Iterator[Node]:
        without_tangent = BACKWARD in one.meta and not tangents[one]
        return map(memory_of, one.all_input_nodes if one is node or without_tangent else ())

    return [source for source in reached([node], sources) if BACKWARD not in source.meta]
