"""Backward graphs in the cache, for parts of them that are compiled later than the call they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._C._compiler import Slot
from torch_py._functorch.aot.recipes import BACKWARD, TANGENTS
from torch_py._shapes.arguments import reach
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.fx._arguments import map_aggregate
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.module import Module


def graph_parts(graph: Graph) -> list[Any]:
    """A graph of operators without constants as values that an entry of the cache may have."""
    nodes = list(graph.nodes)
    slots = {node: Slot(number) for number, node in enumerate(nodes)}
    with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
        return [
            (
                node.op,
                node.name,
                node.target,
                *map_arg((node.args, node.kwargs), slots.__getitem__),
                _geometry(node.meta.get("val")),
                {key: node.meta[key] for key in (BACKWARD, TANGENTS) if key in node.meta},
            )
            for node in nodes
        ]


def _geometry(value: Any) -> Any:
    """What is to be known of a value: a dictionary for each tensor."""
    if isinstance(value, (list, tuple)):
        return [_geometry(one) for one in value]
    if not isinstance(value, Tensor):
        return value
    place = tuple(value.shape), value.stride(), value.storage_offset()
    return {"place": place, "options": {"dtype": value.dtype, "device": value.device}}


def module_of(parts: Sequence[Any]) -> GraphModule:
    """The module of a graph that `graph_parts` has taken apart, with fake values."""
    graph = Graph()
    mode = FakeTensorMode()
    nodes: list[Node] = []

    def node_at(value: Any) -> Any:
        return nodes[value.number] if isinstance(value, Slot) else value

    for op, name, target, args, kwargs, geometry, meta in parts:
        node = graph.create_node(op, target, *map_aggregate((args, kwargs), node_at), name)
        node.meta = {**meta, "val": _value(mode, geometry)}
        nodes.append(node)
    return _LazyGraphModule(Module(), graph, "backward")


def _value(mode: FakeTensorMode, geometry: Any) -> Any:
    if isinstance(geometry, list):
        return tuple(_value(mode, one) for one in geometry)
    if not isinstance(geometry, dict):
        return geometry
    sizes, strides, offset = geometry["place"]
    with mode, DisableTorchFunctionSubclass():
        memory = _C._torch.empty(offset + reach(sizes, strides), **geometry["options"])
        return memory.as_strided(sizes, strides, offset)
