"""Makes changes in place visible as values: inputs that a graph writes to get a new value as an output."""

from __future__ import annotations

import operator
from typing import Any

import torch_py
from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node
from torch_py.utils._pytree import tree_map

_CLONE = torch_py.ops.aten.clone.default


def functionalize(graph: Graph) -> dict[Node, Node]:
    """Returns the inputs (and constants) that the graph wrote to, each with the node of its new value.

    An operator in place becomes its functional form. Where it has none, or where views of the tensor exist
    that see the change, it works on a copy of the input.
    """
    aliases = _Aliases(graph)
    new_values: dict[Node, Node] = {}
    renamed: set[Node] = set()
    for owner in aliases.written:
        is_input = owner.op in ("placeholder", "get_attr")
        if owner not in aliases.viewed and all(map(_functional_form, aliases.writes_to(owner))):
            renamed.add(owner)
        elif is_input:
            new_values[owner] = _copied(graph, owner)

    current = _Renaming(graph, aliases, renamed).run()
    for owner in renamed:
        if owner.op in ("placeholder", "get_attr"):
            new_values[owner] = current[owner]
    return new_values


def _copied(graph: Graph, owner: Node) -> Node:
    """A copy of an input that everything else uses instead."""
    first = next(node for node in graph.nodes if node.op not in ("placeholder",) and node is not owner)
    with graph.inserting_before(first if owner.op == "placeholder" else owner.next):
        copy = graph.call_function(_CLONE, (owner,))
    copy.meta["val"] = owner.meta.get("val")
    owner.replace_all_uses_with(copy, lambda user: user is not copy)
    return copy


class _Aliases:
    """Which nodes share memory: for each node, the one that owns the memory."""

    def __init__(self, graph: Graph) -> None:
        self._owner: dict[Node, Node] = {}
        self.written: list[Node] = []
        self.viewed: set[Node] = set()
        self._writes: dict[Node, list[Node]] = {}
        for node in graph.nodes:
            self._owner[node] = self._find_owner(node)

    def owner(self, node: Node) -> Node:
        return self._owner.get(node, node)

    def writes_to(self, owner: Node) -> list[Node]:
        return self._writes.get(owner, [])

    def _find_owner(self, node: Node) -> Node:
        if node.target is operator.getitem and isinstance(node.args[0], Node):
            source = node.args[0]
            return self._owner[source] if self._owner[source] is not source else node
        schema = getattr(node.target, "_schema", None)
        if schema is None:
            return node

        owner = node
        for argument, value in _bound(schema, node):
            if argument.alias_info is None:
                continue
            for source in _nodes_of(value):
                if argument.is_write:
                    self._note_write(self._owner[source], node)
                else:
                    self.viewed.add(self._owner[source])
                owner = self._owner[source]
        returns_alias = any(result.alias_info is not None for result in schema.returns)
        return owner if returns_alias else node

    def _note_write(self, owner: Node, node: Node) -> None:
        if owner not in self._writes:
            self.written.append(owner)
        self._writes.setdefault(owner, []).append(node)


def _bound(schema: Any, node: Node) -> list[tuple[Any, Any]]:
    found = []
    for position, argument in enumerate(schema.arguments):
        if position < len(node.args):
            found.append((argument, node.args[position]))
        elif argument.name in node.kwargs:
            found.append((argument, node.kwargs[argument.name]))
    return found


def _nodes_of(value: Any) -> list[Node]:
    if isinstance(value, Node):
        return [value]
    return [item for item in value if isinstance(item, Node)] if isinstance(value, (list, tuple)) else []


def _functional_form(node: Node) -> Any:
    """The operator that computes what `node` writes; None if its result would differ."""
    target: Any = node.target
    name = target._opname
    writes = [argument for argument in target._schema.arguments if argument.is_write]
    if not name.endswith("_") or len(writes) != 1 or not target._schema.arguments[0].is_write:
        return None
    overload = target._overloadname
    form = _C._find_operator(name[:-1] if overload == "default" else f"{name[:-1]}.{overload}")
    if form is None or [a.name for a in form._schema.arguments] != [a.name for a in target._schema.arguments]:
        return None
    return form if _gives_the_same(form, node) else None


def _gives_the_same(form: Any, node: Node) -> bool:
    """Whether the functional form gives the shape and dtype of the tensor that is written to."""
    written = getattr(node.args[0], "meta", {}).get("val")
    if written is None or written.example is None:
        return False
    args, kwargs = tree_map(_example_of, (list(node.args), dict(node.kwargs)))
    try:
        result = form(*args, **kwargs)
    except (RuntimeError, TypeError):
        return False
    if not isinstance(result, Tensor):
        return False
    return result.dtype == written.dtype and tuple(result.shape) == tuple(written.example.shape)


def _example_of(value: Any) -> Any:
    if not isinstance(value, Node):
        return value
    known = value.meta.get("val")
    return getattr(known, "example", value.meta.get("example", 2))


class _Renaming:
    """Replaces operators in place by functional ones; from there on, the result is used for the tensor."""

    def __init__(self, graph: Graph, aliases: _Aliases, owners: set[Node]) -> None:
        self.graph = graph
        self.aliases = aliases
        self.current = {owner: owner for owner in owners}

    def run(self) -> dict[Node, Node]:
        """Returns the last value of each tensor."""
        for node in list(self.graph.nodes):
            node.args, node.kwargs = torch_py.fx._arguments.map_aggregate(
                (node.args, node.kwargs), self._latest
            )
            owner = self.aliases.owner(node)
            if owner in self.current and node in self.aliases.writes_to(owner):
                self.current[owner] = self._functional(node)
        for node in reversed(self.graph.nodes):
            owner = self.aliases.owner(node)
            if owner in self.current and node in self.aliases.writes_to(owner):
                self.graph.erase_node(node)
        return self.current

    def _latest(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self.current.get(self.aliases.owner(value), value)
        return value

    def _functional(self, node: Node) -> Node:
        with self.graph.inserting_after(node):
            new = self.graph.call_function(_functional_form(node), node.args, node.kwargs)
        new.meta.update(node.meta)
        return new
