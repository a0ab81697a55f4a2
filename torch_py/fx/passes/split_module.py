"""`split_module`, which divides a graph into submodules."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torch_py.fx._attributes import copy_attr, get_attr
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.module import Module

__all__ = ["Partition", "split_module"]


class Partition:
    """The nodes that become one submodule, and what goes in and out."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[Node, None] = {}
        self.outputs: dict[Node, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {list(self.inputs)},\n outputs: "
            f"{list(self.outputs)},\n partitions depended on: {list(self.dependencies)},\n partition "
            f"dependents: {list(self.dependents)}"
        )


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Divides a GraphModule into submodules, and returns a GraphModule that calls them.

    Args:
        m: the GraphModule to divide
        root_m: the module that has the attributes
        split_callback: a function from a node to the number of its partition; partition 1 becomes `submod_1`
        qualname_map: a dict that is filled with the new paths of attributes, and the old ones; default None
        keep_original_order: whether partitions run in the order of their first nodes; by default, in any
            order that their dependencies allow
        keep_original_node_name: whether nodes in the submodules keep their names; default False
        keep_original_input_name: whether inputs of the submodules are named like the values that they get;
            default True
        partition_affix: a part of the names, `submod_AFFIX_1`; default None
        tuple_return: whether a submodule with one result returns it as a tuple; default False

    Raises:
        RuntimeError: if partitions depend on each other in a cycle
    """
    splitter = _Splitter(m, root_m, partition_affix)
    splitter.keeps_node_names = bool(keep_original_node_name)
    splitter.keeps_input_names = keep_original_input_name
    splitter.returns_tuples = tuple_return
    splitter.assign(split_callback)
    splitter.connect()

    order = splitter.order(bool(keep_original_order))
    for name in order:
        splitter.fill(splitter.partitions[name], qualname_map)
    return splitter.stitch(order)


class _Splitter:
    keeps_node_names = False
    keeps_input_names = True
    returns_tuples = False

    def __init__(self, m: GraphModule, root: Module, affix: str | None) -> None:
        self.m = m
        self.root = root
        self.affix = affix
        self.partitions: dict[str, Partition] = {}
        self.partition_of: dict[Node, Partition] = {}

    def assign(self, split_callback: Callable[[Node], Any]) -> None:
        """Puts every node that computes something into its partition."""
        for node in self.m.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            name = str(split_callback(node))
            if name not in self.partitions:
                partition = Partition(name)
                if self.affix is not None:
                    partition.submod_name = f"submod_{self.affix}_{name}"
                self.partitions[name] = partition
            self.partitions[name].node_names.append(node.name)
            self.partition_of[node] = self.partitions[name]

    def connect(self) -> None:
        """Finds what partitions get from each other and from outside."""
        for node in self.m.graph.nodes:
            user = self.partition_of.get(node)
            for value in node.all_input_nodes:
                source = self.partition_of.get(value)
                if source is user:
                    continue
                if user is not None:
                    user.inputs.setdefault(value)
                if source is not None:
                    source.outputs.setdefault(value)
                if user is not None and source is not None:
                    user.dependencies.setdefault(source.name)
                    source.dependents.setdefault(user.name)

    def order(self, keep: bool) -> list[str]:
        """Partitions after those that they depend on; with `keep` as near to the order of nodes as
        possible."""
        missing = {name: len(partition.dependencies) for name, partition in self.partitions.items()}
        waiting = [name for name, count in missing.items() if not count]
        place = {name: number for number, name in enumerate(self.partitions)}

        found: list[str] = []
        while waiting:
            name = min(waiting, key=place.__getitem__) if keep else waiting[0]
            waiting.remove(name)
            waiting.extend(self._release(name, missing, found))
        if len(found) < len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return found

    def _release(self, name: str, missing: dict[str, int], found: list[str]) -> list[str]:
        """Takes a partition, and returns those that waited for it only."""
        found.append(name)
        released = []
        for dependent in self.partitions[name].dependents:
            missing[dependent] -= 1
            if not missing[dependent]:
                released.append(dependent)
        return released

    # Submodules
    # ------------------------------------------------------------

    def fill(self, partition: Partition, qualname_map: dict[str, str] | None) -> None:
        """Builds the graph of a partition."""
        environment = partition.environment
        for number, value in enumerate(partition.inputs):
            name = value.name if self.keeps_input_names else f"arg_{number}"
            placeholder = partition.graph.placeholder(name, type_expr=value.type)
            placeholder.meta = dict(value.meta)
            environment[value] = placeholder

        names = set(partition.node_names)
        for node in self.m.graph.nodes:
            if node.name not in names:
                continue
            environment[node] = self._copy(partition, node, qualname_map)

        results = tuple(environment[value] for value in partition.outputs)
        if len(results) == 1 and not self.returns_tuples:
            partition.graph.output(results[0])
        else:
            partition.graph.output(results)

    def _copy(self, partition: Partition, node: Node, qualname_map: dict[str, str] | None) -> Node:
        """Adds a copy of a node. A module that it calls gets a path without dots."""
        target = node.target
        if node.op == "call_module":
            target = node.target.replace(".", "_")
            partition.targets[target] = node.target
            if qualname_map is not None:
                qualname_map[f"{partition.submod_name}.{target}"] = node.target

        copied = partition.graph.create_node(
            node.op,
            target,
            map_arg(node.args, partition.environment.__getitem__),
            dict(map_arg(node.kwargs, partition.environment.__getitem__)),
            name=node.name if self.keeps_node_names else None,
            type_expr=node.type,
        )
        copied.meta = dict(node.meta)
        return copied

    # The graph around them
    # ------------------------------------------------------------

    def stitch(self, order: list[str]) -> GraphModule:
        """Builds the graph that calls the submodules."""
        base = Module()
        graph = Graph()
        environment: dict[Node, Any] = {}
        for node in self.m.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                if node.op == "get_attr":
                    copy_attr(self.root, base, node.target)
                environment[node] = graph.node_copy(node, environment.__getitem__)

        for name in order:
            self._call(graph, base, self.partitions[name], environment)
        for node in self.m.graph.nodes:
            if node.op == "output":
                end = graph.output(map_arg(node.args[0], environment.__getitem__), type_expr=node.type)
                end.meta = dict(node.meta)

        module = GraphModule(base, graph)
        module.meta.update(self.m.meta)
        return module

    def _call(self, graph: Graph, base: Module, partition: Partition, environment: dict[Node, Any]) -> None:
        """Adds the call of a submodule, and the nodes that take its results apart."""
        holder = {target: get_attr(self.root, original) for target, original in partition.targets.items()}
        submodule = GraphModule(holder, partition.graph)
        setattr(base, partition.submod_name, submodule)

        arguments = tuple(environment[value] for value in partition.inputs)
        called = graph.call_module(partition.submod_name, arguments)
        outputs = list(partition.outputs)
        if len(outputs) == 1 and not self.returns_tuples:
            environment[outputs[0]] = called
            return

        for position, value in enumerate(outputs):
            item = graph.call_function(operator.getitem, (called, position))
            item.meta = dict(value.meta)
            environment[value] = item
