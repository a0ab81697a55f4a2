"""Modules around subgraphs, and comparison of graphs."""

from __future__ import annotations

from torch_py.fx._attributes import copy_attr
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch_py.nn.modules.module import Module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(Module):
    """A module that has the given modules as children."""

    def __init__(self, d: dict[str, Module | None]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """Returns a GraphModule that runs `subgraph` with the attributes that it reads in `gm`, and a dictionary
    of their paths, from those below `comp_name` to those in `gm`."""
    root = HolderModule({})
    paths: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op in ("call_module", "get_attr"):
            copy_attr(gm, root, node.target)
            paths[f"{comp_name}.{node.target}"] = node.target
    return GraphModule(root, subgraph, class_name), paths


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs do the same: equal nodes in the order of their dependencies, whatever their
    names."""
    matcher = SubgraphMatcher(left, match_output=True, match_placeholder=True)
    return len(matcher.match(right)) > 0
