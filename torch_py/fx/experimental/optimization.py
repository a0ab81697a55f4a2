"""Optimisations of models for evaluation: batch normalisation fused into the layer before it, dropout
removed."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx._symbolic_trace import symbolic_trace
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.interpreter import Transformer
from torch_py.fx.node import Argument, Node, Target
from torch_py.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from torch_py.nn.modules.conv import Conv1d, Conv2d, Conv3d
from torch_py.nn.modules.dropout import Dropout
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "remove_dropout",
    "replace_node_module",
]

_FUSED = (
    (Conv1d, BatchNorm1d),
    (Conv2d, BatchNorm2d),
    (Conv3d, BatchNorm3d),
    (Linear, BatchNorm1d),
)


def _parent_name(target: str) -> tuple[str, str]:
    """The path of the module that has an attribute, and the name of the attribute."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Module]) -> bool:
    """Whether a node calls a module of the second type on the result of one of the first."""
    if not node.args:
        return False
    for kind, each in zip(pattern, (node.args[0], node)):
        if not isinstance(each, Node) or each.op != "call_module" or each.target not in modules:
            return False
        if type(modules[each.target]) is not kind:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Module], new_module: Module) -> None:
    """Puts another module at the path that a node calls."""
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Returns a GraphModule in which convolutions and linear layers include the batch normalisation after
    them.

    The model must be in evaluation mode (AssertionError otherwise). With `inplace`, the layers of `model`
    itself change. With `no_trace`, `model` is a GraphModule already. A layer whose result is also used
    elsewhere, and one without running statistics, stays as it is.
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules: dict[str, Module] = dict(traced.named_modules())
    calls = _call_counts(traced.graph)

    for pattern in _FUSED:
        for node in list(traced.graph.nodes):
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            norm = modules[node.target]
            if not norm.track_running_stats or calls[node.args[0].target] > 1:
                continue

            layer = modules[node.args[0].target]
            join: Any = fuse_linear_bn_eval if pattern[0] is Linear else fuse_conv_bn_eval
            fused = join(layer, norm)
            replace_node_module(node.args[0], modules, fused)
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)


def _call_counts(graph: Graph) -> dict[str, int]:
    """How often each module is called."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        if node.op == "call_module":
            counts[node.target] = counts.get(node.target, 0) + 1
    return counts


def remove_dropout(model: Module) -> Module:
    """Returns a GraphModule without the Dropout layers of the model."""

    class WithoutDropout(Transformer):
        def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
            if isinstance(self.submodules[target], Dropout):
                if len(args) != 1:
                    raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
                return args[0]
            return super().call_module(target, args, kwargs)

    return WithoutDropout(symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """Returns a GraphModule that computes `outputs`, a list, from `inputs` by `nodes`."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in inputs:
        copies[node] = graph.placeholder(node.name)
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


__getattr__ = _lacking(__name__)
