"""The checks of `Graph.lint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module

if TYPE_CHECKING:
    from torch_py.fx.graph import Graph
    from torch_py.fx.node import Node


def lint(graph: Graph) -> None:
    """Raises RuntimeError or ValueError at the first node that is wrong."""
    seen_nodes: set[Node] = set()
    seen_names: set[str] = set()

    for node in graph.nodes:
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        for argument in node.all_input_nodes:
            _check_argument(graph, node, argument, seen_nodes)
        if node.name in seen_names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        seen_nodes.add(node)
        seen_names.add(node.name)

    if graph.owning_module is not None:
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _check_target(graph.owning_module, node)


def _check_argument(graph: Graph, node: Node, argument: Node, seen: set[Node]) -> None:
    if argument.graph is not graph:
        raise RuntimeError(
            f"Argument '{argument}' of Node '{node}' does not belong to this Graph, but was used as an "
            "argument! If you are copying nodes from another graph, make sure to use ``arg_transform`` on "
            f"node_copy() to remap values\n{graph}"
        )
    if argument not in seen:
        raise RuntimeError(
            f"Argument '{argument}' of Node '{node}' was used before it has been defined! Please check that "
            f"Nodes in the graph are topologically ordered\n{graph}"
        )


def _check_target(module: Module, node: Node) -> None:
    """Checks that the path exists and leads to a module, or to what get_attr may read."""
    path = node.target.split(".")
    found = module
    for depth, name in enumerate(path):
        is_last = depth == len(path) - 1
        if not hasattr(found, name):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {name} of "
                f"{'.'.join(path[:depth])}"
            )
        found = getattr(found, name)

        if node.op == "call_module" and is_last and not isinstance(found, Module):
            raise RuntimeError(
                f"Node {node} target {node.target} {name} of {'.'.join(path[:depth])} does not reference an "
                "nn.Module"
            )
        if not is_last and not isinstance(found, (Module, Tensor)):
            raise RuntimeError(
                f"Node {node} target {node.target} {name} of {'.'.join(path[:depth])} is not an nn.Module"
            )
