"""Constant folding: what depends on parameters only is computed once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.fx._attributes import copy_attr
from torch_py.fx._symbolic_trace import symbolic_trace
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.container import ParameterList
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A GraphModule whose constant part is a submodule, run at the first call. Its results are attributes,
    which the rest of the graph reads."""

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self) -> None:
        """Computes the constants, unless that has been done. Raises AssertionError the second time."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("constants have been folded already")
        self.has_folding_been_run = True

        folded = self.const_subgraph_module()

        def as_parameter(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            moved = value.detach().to(self.device_for_folded_attrs)
            return Parameter(moved, requires_grad=value.requires_grad)

        attribute = (
            ParameterList([as_parameter(value) for value in folded])
            if isinstance(folded, tuple)
            else as_parameter(folded)
        )
        setattr(self, self.fx_const_folded_attrs_name, attribute)


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """A name like `name` that the module has no attribute for, valid in Python."""
    name = "".join(character if character.isalnum() or character == "_" else "_" for character in name)
    if name[0].isdigit():
        name = f"_{name}"
    base, number = name, 0
    while hasattr(mod_traced, name):
        number += 1
        name = f"{base}_{number}"
    return name


def split_const_subgraphs(
    module: Module | GraphModule,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """Returns a module that computes what does not depend on inputs at its first call, and never again.

    `skip_folding_node_fn(node)` keeps a node, and what depends on it, where it is. Random functions and those
    with effects stay too.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constants = _constant_nodes(traced, skip_folding_node_fn)
    results = [node for node in constants if any(user not in constants for user in node.users)]
    if not results:
        return FoldedGraphModule(traced, traced.graph)

    subgraph = Graph()
    copies: dict[Node, Node] = {}
    for node in traced.graph.nodes:
        if node in constants or (node.op == "get_attr" and any(user in constants for user in node.users)):
            copies[node] = subgraph.node_copy(node, copies.__getitem__)
    returned = tuple(copies[node] for node in results)
    subgraph.output(returned[0] if len(returned) == 1 else returned)

    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    root = Module()
    root.training = traced.training
    for node in traced.graph.nodes:
        if node.op in ("get_attr", "call_module"):
            copy_attr(traced, root, node.target)
    setattr(root, name, ParameterList() if len(results) > 1 else Parameter(torch_py.empty(1)))

    graph = _without_constants(traced.graph, constants, results, name)
    return FoldedGraphModule(root, graph, subgraph, name, device_for_folded_attrs)


def _constant_nodes(
    traced: GraphModule, skip_folding_node_fn: Callable[[Node], bool] | None
) -> dict[Node, None]:
    """The nodes that compute something from attributes only. Those that only read one are not among them."""
    known: set[Node] = set()
    found: dict[Node, None] = {}
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output") or (skip_folding_node_fn and skip_folding_node_fn(node)):
            continue
        if node.op == "get_attr":
            known.add(node)
            continue

        if not node.all_input_nodes or any(value not in known for value in node.all_input_nodes):
            continue
        if node.is_impure():
            continue
        known.add(node)
        found[node] = None
    return found


def _without_constants(graph: Graph, constants: dict[Node, None], results: list[Node], name: str) -> Graph:
    """A copy of the graph that reads the constants instead of computing them."""
    reduced = Graph()
    copies: dict[Node, Any] = {}
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    for node in inputs:
        copies[node] = reduced.node_copy(node)

    folded = reduced.get_attr(name)
    folded.meta["is_folded"] = True
    if len(results) == 1:
        copies[results[0]] = folded
    else:
        for position, node in enumerate(results):
            copies[node] = reduced.call_function(operator.getitem, (folded, position))

    for node in graph.nodes:
        if node in copies or node in constants:
            continue
        if node.op == "get_attr" and node.users and all(user in constants for user in node.users):
            continue
        if node.op == "output":
            end = reduced.output(map_arg(node.args[0], copies.__getitem__), type_expr=node.type)
            end.meta = dict(node.meta)
        else:
            copies[node] = reduced.node_copy(node, copies.__getitem__)
    return reduced
