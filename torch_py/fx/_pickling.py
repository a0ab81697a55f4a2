"""The state of graphs for pickle: a flat list of nodes, so that deep graphs need no recursion.

Functions of torch are stored by the names that programs use; everything else as pickle stores it. The
metadata of nodes is left out: it may hold anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch_py
from torch_py.fx._arguments import map_aggregate
from torch_py.fx._names import public_name, resolves
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py.fx.graph import Graph


class _NodeAt:
    """A node among arguments, by its position in the list."""

    def __init__(self, position: int) -> None:
        self.position = position


class _TorchFunction:
    """A function or class of torch, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name


def _stored(value: Any, positions: dict[Node, int]) -> Any:
    if isinstance(value, Node):
        return _NodeAt(positions[value])
    name = public_name(value)
    return _TorchFunction(name) if name is not None and resolves(name, value) else value


def _found(value: Any, nodes: list[Node]) -> Any:
    if isinstance(value, _NodeAt):
        return nodes[value.position]
    if isinstance(value, _TorchFunction):
        found: Any = torch_py
        for part in value.name.split(".")[1:]:
            found = getattr(found, part)
        return found
    return value


def state_of(graph: Graph) -> dict[str, Any]:
    """What `restore` rebuilds the graph from."""
    positions: dict[Node, int] = {}
    records = []
    for position, node in enumerate(graph.nodes):
        args, kwargs = map_aggregate((node.args, node.kwargs), lambda leaf: _stored(leaf, positions))
        target = _stored(node.target, positions)
        records.append((node.op, node.name, target, args, kwargs, _stored(node.type, positions)))
        positions[node] = position

    codegen = graph._codegen.copy()
    codegen._body_transformer = None  # a function, which belongs to the program that set it
    return {"nodes": records, "codegen": codegen, "tracer_cls": importable_tracer(graph)}


def importable_tracer(graph: Graph) -> type | None:
    """The class of the tracer that made the graph, unless it was defined inside of a function."""
    tracer = graph._tracer_cls
    return None if tracer is None or "<locals>" in tracer.__qualname__ else tracer


def restore(graph: Graph, state: dict[str, Any]) -> None:
    """Fills an empty graph."""
    nodes: list[Node] = []
    for op, name, target, args, kwargs, kind in state["nodes"]:
        args, kwargs = map_aggregate((args, kwargs), lambda leaf: _found(leaf, nodes))
        node = graph.create_node(
            op, _found(target, nodes), args, dict(kwargs), name=name, type_expr=_found(kind, nodes)
        )
        nodes.append(node)
    graph._codegen = state["codegen"]
    graph._tracer_cls = state["tracer_cls"]
