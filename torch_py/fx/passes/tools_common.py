"""What tools that divide graphs share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch_py
from torch_py.fx._names import public_module
from torch_py.fx._order import sort_topologically
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, _get_qualified_name
from torch_py.nn.modules.module import Module

__all__ = [
    "get_acc_ops_name",
    "get_node_target",
    "is_node_output_tensor",
    "legalize_graph",
    "stable_topological_sort",
]

Tensors = tuple[Any, ...] | list[Any]
TensorOrTensors = Any
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k: str | type) -> str:
    """The dotted name of a function or class."""
    if isinstance(k, str):
        return k
    return _get_qualified_name(k) if not isinstance(k, type) else f"{k.__module__}.{k.__name__}"


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """The name of what a node calls: the type of a module, a function, or a method.

    Raises AssertionError for nodes that call nothing.
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}")
    if node.op == "call_module":
        submodule = submodules[node.target]
        kind = getattr(submodule, "_base_class_origin", type(submodule))
        return f"{public_module(kind.__module__)}.{kind.__name__}"
    if node.op == "call_function":
        return _get_qualified_name(node.target)
    return node.target


def is_node_output_tensor(node: Node) -> bool:
    """Whether a pass noted that the value of the node is a tensor."""
    kind = node.meta.get("type")
    return kind is not None and issubclass(kind, torch_py.Tensor)


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Moves the nodes so that each comes after its arguments. Raises RuntimeError for cycles."""
    sort_topologically(gm.graph)
    gm.recompile()
    return gm


stable_topological_sort = legalize_graph
