"""Graphs of operators in the cache, for programs that are compiled later than the call they belong to."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._C._compiler import Slot
from torch_py._functorch.aot.building import Builder
from torch_py._inductor.entries import NotWrittenError
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx._arguments import map_aggregate
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.module import Module


def graph_parts(graph: Graph) -> list[Any]:
    """A graph of operators as values that an entry of the cache may have. Raises NotWrittenError."""
    nodes = list(graph.nodes)
    slots = {node: Slot(number) for number, node in enumerate(nodes)}
    return [
        (node.name, *_facts(node), *map_arg((node.args, node.kwargs), slots.__getitem__)) for node in nodes
    ]


def _facts(node: Node) -> tuple[Any, Any]:
    """What a node calls, and what is to be known of an input."""
    if node.op == "placeholder":
        value = node.meta["val"]
        return None, (tuple(value.shape), value.stride(), value.dtype, value.device)
    if node.op == "output":
        return None, None
    if node.op != "call_function":
        raise NotWrittenError(f"a node of kind {node.op}")
    return None if node.target is operator.getitem else node.target, None


def module_of(parts: Sequence[Any]) -> GraphModule:
    """The module of a graph that `graph_parts` has taken apart, with fake values."""
    graph = Graph()
    builder = Builder(graph, FakeTensorMode())
    nodes: list[Node] = []

    def node_at(value: Any) -> Any:
        return nodes[value.number] if isinstance(value, Slot) else value

    for name, target, geometry, args, kwargs in parts:
        args, kwargs = map_aggregate((args, kwargs), node_at)
        if geometry is not None:
            nodes.append(graph.placeholder(name))
            nodes[-1].meta["val"] = _input(builder.fake_mode, *geometry)
        elif name == "output":
            nodes.append(graph.output(*args))
        else:
            nodes.append(builder.element(*args) if target is None else builder.call(target, *args, **kwargs))
            nodes[-1]._rename(name)
    return _LazyGraphModule(Module(), graph, "backward")


def _input(mode: FakeTensorMode, sizes: Any, strides: Any, dtype: Any, device: Any) -> Any:
    with mode, DisableTorchFunctionSubclass():
        return _C._torch.empty_strided(sizes, strides, dtype=dtype, device=device)
