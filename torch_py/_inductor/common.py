"""Computes equal values once: common subexpressions of the operator graph.

    a = sin(x); b = sin(x)  ->  b is a

Operators that draw random numbers or change an argument are left alone, and so are values that the graph
returns, directly or through a view: tensors that were apart must not become one. What backward computes is
not taken from the call: that would keep what a checkpoint gives up. Nor is it taken from a step of backward
that other gradients lead to, as either may run alone.
"""

from __future__ import annotations

import operator
from typing import Any

from torch_py._functorch.aot.forms import Form, is_random
from torch_py._functorch.aot.partition import is_view
from torch_py._functorch.aot.recipes import BACKWARD, TANGENTS
from torch_py._inductor.entries import NotWrittenError, text_of
from torch_py._ops import OpOverload
from torch_py.fx._order import reached
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node


def merge_common(module: GraphModule) -> int:
    """Merges nodes that compute equal values, and returns how many have gone."""
    returned = _returned(module)
    changes = 0
    known: dict[Any, Node] = {}
    gone = 0

    for node in list(module.graph.nodes):
        if isinstance(node.target, OpOverload) and node.target._schema.is_mutable:
            changes += 1  # views of what it changes are others from here on
            continue
        if not _is_pure(node) or node in returned:
            continue
        try:
            arguments = text_of((node.args, node.kwargs))
        except NotWrittenError:
            continue
        step = BACKWARD in node.meta, node.meta.get(TANGENTS)
        first = known.setdefault((changes, step, node.target, arguments), node)
        if first is not node:
            node.replace_all_uses_with(first)
            module.graph.erase_node(node)
            gone += 1

    if gone:
        module.recompile()
    return gone


def _returned(module: GraphModule) -> set[Node]:
    """The nodes whose memory is in the results of a graph."""

    def memory(node: Node) -> list[Node]:
        return node.all_input_nodes if node.target is operator.getitem or is_view(node) else []

    return set(reached(module.graph.output_node().all_input_nodes, memory))


def _is_pure(node: Node) -> bool:
    """Whether a node always computes the same of the same, in memory of its own or as a view."""
    target: Any = node.target
    is_known = target is operator.getitem or isinstance(target, (OpOverload, Form))
    return is_known and not is_random(target)
