"""Types of items from the types of what they are taken from."""

from __future__ import annotations

import operator
import typing
from typing import Any

from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

__all__ = ["annotate_getitem_nodes"]


def annotate_getitem_nodes(graph: Graph) -> None:
    """Sets the types of nodes that take an item of a tuple, list, dictionary or named tuple with a type."""
    for node in graph.nodes:
        if node.op != "call_function" or node.target is not operator.getitem or len(node.args) < 2:
            continue
        container, index = node.args[:2]
        if isinstance(container, Node) and container.type is not None:
            kind = _type_of_item(container.type, index)
            if kind is not None:
                node.type = kind


def _type_of_item(kind: Any, index: Any) -> Any:
    parts = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin is tuple and parts:
        if len(parts) == 2 and parts[1] is ...:
            return parts[0]
        return parts[index] if isinstance(index, int) and -len(parts) <= index < len(parts) else None
    if origin is list and parts:
        return parts[0]
    if origin is dict and parts:
        return parts[1]
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        types = list(typing.get_type_hints(kind).values())
        return types[index] if isinstance(index, int) and index < len(types) else None
    return None
