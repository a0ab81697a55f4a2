"""Replaces sets of nodes by submodules that hold them."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from torch_py.fx._order import leads_back_into, sort_topologically
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.fx.passes.utils.common import lift_subgraph_as_module

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]


def topo_sort(nodes: list[Node]) -> list[Node]:
    """Nodes of one graph in its order."""
    return sorted(nodes)


def validate_partition(partition: Iterable[Node]) -> bool:
    """Whether the nodes can become one: no path leaves them and comes back."""
    return not leads_back_into(set(partition))


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: list[Node],
    module_name: str,
    partition_lookup_table: dict[Node, int | None] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """Copies nodes into a GraphModule of their own. Returns it with the nodes whose values it takes, and
    those whose values it returns."""
    inside = set(nodes)
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
    if not validate_partition(inside):
        raise AssertionError("Invalid partition, found dependency cycles")

    subgraph = Graph()
    copies: dict[Node, Node] = {}
    inputs: dict[Node, None] = {}

    def inner(node: Node) -> Node:
        if node not in copies:
            if node.op == "get_attr":
                copies[node] = subgraph.node_copy(node)
            else:
                inputs[node] = None
                copies[node] = subgraph.placeholder(node.name, type_expr=node.type)
                copies[node].meta = dict(node.meta)
        return copies[node]

    for node in nodes:
        copies[node] = subgraph.node_copy(node, inner)

    outputs = [node for node in nodes if any(user not in inside for user in node.users)]
    results = tuple(copies[node] for node in outputs)
    subgraph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    subgraph.lint()

    fused, _ = lift_subgraph_as_module(gm, subgraph, comp_name="", class_name=module_name)
    return fused, tuple(inputs), tuple(outputs)


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Calls `sub_gm` in `gm`: its results take the place of `orig_outputs`. The call goes after
    `insertion_point`, or after the last of the inputs and outputs."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)

    # Before the last output, so that what uses the others may have to move.
    after = insertion_point or max((*orig_inputs, *orig_outputs))
    with gm.graph.inserting_after(after):
        called = gm.graph.call_module(name, args=orig_inputs)

    returned = sub_gm.graph.output_node().args[0]
    replacements: list[Node] = [called]
    if isinstance(returned, tuple):
        replacements = []
        with gm.graph.inserting_before(called.next):
            for position in range(len(orig_outputs)):
                replacements.append(gm.graph.call_function(operator.getitem, (called, position)))

    for old, new in zip(orig_outputs, replacements):
        new.meta = dict(old.meta) if new is not called else {**old.meta, **new.meta}
        old.replace_all_uses_with(new, delete_user_cb=lambda user: user is not called)
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Erases nodes, users first."""
    for node in sorted(nodes, reverse=True):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: list[dict[Node, int | None]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Replaces each set of nodes by the call of a submodule `fused_0`, `fused_1`, ..."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        sub_gm, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{number}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, sub_gm, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)

    sort_topologically(gm.graph)
    gm.graph.lint()
    gm.recompile()
    return gm
