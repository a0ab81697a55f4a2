"""The nodes of a graph by what they do, so that passes find them without a walk over all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch_py.fx.node import Node


class NodeIndex:
    """Nodes by operation and, for calls of functions, by the function."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[str, Any], dict[Node, None]] = {}

    @staticmethod
    def _key(op: str, target: Any) -> tuple[str, Any]:
        if op != "call_function":
            return op, None
        try:
            hash(target)
        except TypeError:
            return op, id(target)
        return op, target

    def insert(self, node: Node) -> None:
        self._nodes.setdefault(self._key(node.op, node.target), {})[node] = None
        node._index = self

    def remove(self, node: Node) -> None:
        self._nodes[self._key(node.op, node.target)].pop(node, None)
        node._index = None

    def find(self, op: str, target: Any | None) -> list[Node]:
        """The nodes with the operation, and with the target unless it is None, in the order of insertion."""
        if op == "call_function":
            if target is None:
                raise AssertionError("target must not be None for call_function op")
            return list(self._nodes.get(self._key(op, target), ()))

        found = self._nodes.get((op, None), {})
        return [node for node in found if target is None or node.target == target]
