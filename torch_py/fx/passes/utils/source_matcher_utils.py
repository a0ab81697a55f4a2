"""Finds the nodes that come from one layer or function of the program, by their metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """The nodes that come from one call of `source`, and what goes in and out of them."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """For each wanted layer or function the nodes of each of its calls.

    Nodes say where they come from in `meta["source_fn_stack"]`, a list of pairs (name of the call, layer or
    function), the innermost last.
    """
    calls: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        stack = node.meta.get("source_fn_stack")
        if stack and stack[-1][1] in wanted_sources:
            name, source = stack[-1]
            calls.setdefault(source, {}).setdefault(name, []).append(node)

    found = {
        source: [_partition(nodes, source) for nodes in by_name.values()] for source, by_name in calls.items()
    }
    if filter_fn is None:
        return found
    kept = {
        source: [each for each in partitions if all(map(filter_fn, each.nodes))]
        for source, partitions in found.items()
    }
    return {source: partitions for source, partitions in kept.items() if partitions}


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inside = set(nodes)
    inputs: dict[Node, None] = {}
    params: dict[Node, None] = {}
    outputs: dict[Node, None] = {}

    for node in nodes:
        for value in node.all_input_nodes:
            if value.op == "get_attr":
                params[value] = None
            elif value not in inside:
                inputs[value] = None
        if node.op == "get_attr":
            params[node] = None
        elif any(user not in inside for user in node.users):
            outputs[node] = None
    return SourcePartition(nodes, source, list(inputs), list(outputs), list(params))


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether the second uses a value of the first."""
    first = set(subgraph1.nodes)
    return any(value in first for node in subgraph2.nodes for value in node.all_input_nodes)
