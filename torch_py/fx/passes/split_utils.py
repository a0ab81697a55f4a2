"""`split_by_tags`, which divides a graph by the tags of its nodes."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

from torch_py.fx._attributes import copy_attr
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.fx.passes.utils.common import HolderModule, lift_subgraph_as_module

__all__ = ["Component", "getattr_recursive", "setattr_recursive", "split_by_tags"]


def getattr_recursive(obj: object, name: str) -> Any:
    """The attribute at a dotted path; None if a part of it does not exist."""
    for part in name.split("."):
        if not hasattr(obj, part):
            return None
        obj = getattr(obj, part)
    return obj


def setattr_recursive(obj: object, attr: str, value: object) -> None:
    """Sets the attribute at a dotted path."""
    *path, name = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, name, value)


@dataclass
class Component:
    """The nodes of one tag: their graph, and its inputs and outputs as nodes of the original graph."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule,
    tags: list[str],
    return_fqn_mapping: bool = False,
    return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,  # noqa: N803  # PyTorch's name
) -> GraphModule | tuple[GraphModule, dict[str, str]]:
    """Returns a GraphModule with a submodule for each tag, which holds the nodes whose `tag` that is.

    Every node that computes something must have a tag; `tags` lists them in the order in which they run. With
    `return_fqn_mapping`, a tuple of it and a dictionary from the paths of attributes in the submodules to
    those in `gm`. With `return_tuple`, submodules with one result return a tuple of it.

    Raises AssertionError if a node without a tag is met, or one uses the value of a later tag.
    """
    components = {tag: Component(Graph(), order, tag) for order, tag in enumerate(tags)}
    component_of: dict[Node, Component] = {}
    copies: dict[Node, Node] = {}
    holders: dict[Node, Node] = {}  # nodes of the graph that calls the submodules
    main = Graph()

    for node in gm.graph.nodes:
        if node.op == "placeholder":
            holders[node] = main.node_copy(node)
        elif node.op == "get_attr":
            continue
        elif node.op == "output":
            for value in node.all_input_nodes:
                owner = component_of.get(value)
                if owner is not None and value not in owner.orig_outputs:
                    owner.orig_outputs.append(value)
        else:
            component = _component_of(node, components)
            component_of[node] = component
            copies[node] = component.graph.node_copy(node, _inner(component, component_of, copies))

    for component in components.values():
        _finish(component, copies, return_tuple)

    names: dict[str, str] = {}
    modules: dict[str, Any] = {}
    for tag, component in components.items():
        lifted, found = lift_subgraph_as_module(gm, component.graph, comp_name=tag)
        component.gm = GraphModuleCls(lifted, component.graph)
        modules[tag] = component.gm
        names.update(found)
        _call(main, component, holders, return_tuple)

    root = HolderModule(modules)
    returned = _returned(gm, main, root, holders)
    main.output(returned)
    result = GraphModuleCls(root, main)
    return (result, names) if return_fqn_mapping else result


def _component_of(node: Node, components: dict[str, Component]) -> Component:
    tag = getattr(node, "tag", None)
    if tag not in components:
        raise AssertionError(f"Node {node} does not have one of the tags {list(components)}: {tag!r}")
    return components[tag]


def _inner(
    component: Component,
    component_of: dict[Node, Component],
    copies: dict[Node, Node],
) -> Any:
    """A function from arguments of a node to nodes of the graph of its component."""

    def inner(value: Node) -> Node:
        if value.op == "get_attr":
            if value not in component.getattr_maps:
                component.getattr_maps[value] = component.graph.node_copy(value)
            return component.getattr_maps[value]

        source = component_of.get(value)
        if source is component:
            return copies[value]
        if source is not None and source.order > component.order:
            raise AssertionError(
                f"Node {value} of tag {source.name} is used in {component.name}, which runs before"
            )
        if value not in component.orig_inputs:
            component.orig_inputs.append(value)
            if source is not None and value not in source.orig_outputs:
                source.orig_outputs.append(value)
            placeholder = component.graph.placeholder(value.name, type_expr=value.type)
            placeholder.meta = dict(value.meta)
            component.input_placeholders.append(placeholder)
        return component.input_placeholders[component.orig_inputs.index(value)]

    return inner


def _finish(component: Component, copies: dict[Node, Node], return_tuple: bool) -> None:
    """Lets the graph of a component return what others use."""
    results = tuple(copies[node] for node in component.orig_outputs)
    component.graph.output(results[0] if len(results) == 1 and not return_tuple else results)


def _call(main: Graph, component: Component, holders: dict[Node, Node], return_tuple: bool) -> None:
    """Adds the call of a submodule, and the nodes that take its results apart."""
    called = main.call_module(component.name, tuple(holders[value] for value in component.orig_inputs))
    outputs = component.orig_outputs
    if len(outputs) == 1 and not return_tuple:
        holders[outputs[0]] = called
        return
    for position, value in enumerate(outputs):
        holders[value] = main.call_function(operator.getitem, (called, position))


def _returned(gm: GraphModule, main: Graph, root: HolderModule, holders: dict[Node, Node]) -> Any:
    """What the graph returns; attributes that it returns are read in the main graph."""

    def outer(value: Node) -> Node:
        if value not in holders and value.op == "get_attr":
            copy_attr(gm, root, value.target)
            holders[value] = main.node_copy(value)
        return holders[value]

    return map_arg(gm.graph.output_node().args[0], outer)
