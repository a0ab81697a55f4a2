"""`CSEPass`, which computes equal expressions once."""

from __future__ import annotations

import functools
from typing import Any

import torch_py
from torch_py._tags import Tag
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, _is_random
from torch_py.fx.passes.infra.pass_base import PassBase, PassResult

__all__ = ["CSEPass", "get_CSE_banned_ops"]


@functools.cache
def _changing_names() -> frozenset[str]:
    """Of operators whose calls give other values each time: random ones, and uninitialised memory."""

    def is_changing(overload: Any) -> bool:
        return Tag.nondeterministic_seeded in overload.tags or "uninitialised" in overload._tag_words.split()

    # Imported on first use: the registry of operators is large.
    from torch_py._ops import _own_overloads, packet

    return frozenset(
        name
        for name, overloads in _own_overloads().items()
        if any(is_changing(getattr(packet("aten", name), overload)) for overload in overloads)
    )


def get_CSE_banned_ops() -> set[Any]:  # noqa: N802  # PyTorch's name
    """The functions of torch whose calls are never merged, as they draw random numbers or make new memory."""
    return {getattr(torch_py, name) for name in _changing_names() if hasattr(torch_py, name)}


class CSEPass(PassBase):
    """Replaces nodes that compute what an earlier node has computed by that node.

    Inputs and outputs, functions with effects, in-place functions, random ones and those in `banned_ops`
    stay.
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        self.banned_ops = get_CSE_banned_ops() if banned_ops is None else banned_ops

    def call(self, graph_module: GraphModule) -> PassResult:
        """Changes the graph, and returns the module and whether anything was merged."""
        seen: dict[Any, Node] = {}
        modified = False
        for node in list(graph_module.graph.nodes):
            if not self._is_mergeable(node):
                continue
            key = _key(node)
            if key is None:
                continue
            earlier = seen.setdefault(key, node)
            if earlier is not node:
                node.replace_all_uses_with(earlier)
                graph_module.graph.erase_node(node)
                modified = True

        if modified:
            graph_module.recompile()
        return PassResult(graph_module, modified)

    def _is_mergeable(self, node: Node) -> bool:
        """Whether a second node like this one has the same value."""
        if node.op == "get_attr":
            return True
        if node.op == "call_method":
            return not node.target.endswith("_")
        if node.op != "call_function" or node.target in self.banned_ops:
            return False

        name = getattr(node.target, "__name__", "")
        in_place = (
            name.endswith("_") and not name.endswith("__") and name not in ("and_", "or_", "not_", "is_")
        )
        assigns = getattr(node.target, "__module__", "") == "_operator" and (
            name == "setitem" or (name.startswith("i") and name[1:] in _ASSIGNED)
        )
        if in_place or assigns or node.kwargs.get("inplace") or "out" in node.kwargs:
            return False
        return not (node.is_impure() or _is_random(node.target) or name in _changing_names())


_ASSIGNED = frozenset("add and concat floordiv lshift mod mul matmul or pow rshift sub truediv xor".split())


def _key(node: Node) -> Any | None:
    """What two nodes have in common that compute the same; None if an argument cannot be compared.

    Equal numbers of different types, 2 and 2.0, are different arguments.
    """

    def comparable(value: Any) -> Any:
        if isinstance(value, Node):
            return (Node, id(value))
        if isinstance(value, (list, tuple)):
            return (type(value), tuple(comparable(item) for item in value))
        if isinstance(value, dict):
            return (dict, tuple(sorted((repr(name), comparable(item)) for name, item in value.items())))
        if isinstance(value, slice):
            return (slice, comparable((value.start, value.stop, value.step)))
        return (type(value), value)

    try:
        key = (node.op, node.target, comparable(node.args), comparable(node.kwargs))
        hash(key)
    except TypeError:
        return None
    return key
