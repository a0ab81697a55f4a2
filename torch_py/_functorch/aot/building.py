"""`Builder`: adds calls of operators to a graph, with fake results."""

from __future__ import annotations

import operator
from typing import Any

from torch_py import _C
from torch_py._guards import detect_fake_mode
from torch_py._ops import ops
from torch_py._shapes.arguments import are_dense
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._subclasses.unseen import unseen
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node, map_arg


def input_values(graph: Graph) -> list[Any]:
    """Fake tensors, and numbers that vary, as examples of the inputs."""
    return [node.meta["val"] for node in graph.find_nodes(op="placeholder")]


def mode_of(values: Any) -> FakeTensorMode:
    """The mode of the fake tensors among some values, or a new one."""
    mode: FakeTensorMode | None = detect_fake_mode(values)
    return mode or FakeTensorMode()


class Builder:
    """Appends nodes to `graph`. `context` is what is added to their `meta`."""

    def __init__(self, graph: Graph, fake_mode: FakeTensorMode) -> None:
        self.graph = graph
        self.fake_mode = fake_mode
        self.context: dict[str, Any] = {}

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        """A call, whose result is computed with the values of the arguments."""
        node = self.graph.call_function(target, args, kwargs, name=target._opname)
        node.meta.update(self.context)
        fake_args, fake_kwargs = map_arg((args, kwargs), lambda argument: argument.meta["val"])
        with self.fake_mode, DisableTorchFunctionSubclass(), no_grad():
            node.meta["val"] = target(*fake_args, **fake_kwargs)
        return node

    def element(self, node: Node, position: int) -> Node:
        """One of several results."""
        element = self.graph.call_function(operator.getitem, (node, position))
        element.meta.update(self.context)
        element.meta["val"] = node.meta["val"][position]
        return element

    def with_strides_of(self, node: Node, like: Any) -> Node:
        """The same numbers with the order of strides of a tensor of the same shape, without gaps."""
        with unseen():
            wanted = _C._torch.empty_like(like._twin).stride()
        if _significant(node.meta["val"], node.meta["val"].stride()) == _significant(like, wanted):
            return node

        order = sorted(range(len(wanted)), key=lambda dim: -wanted[dim])
        permuted = self.call(ops.aten.permute.default, node, order)
        dense = self.call(ops.aten.clone.default, permuted, memory_format=_C.contiguous_format)
        return self.call(ops.aten.permute.default, dense, sorted(range(len(order)), key=order.__getitem__))


def _significant(tensor: Any, strides: tuple[int, ...]) -> list[int]:
    """The strides of dimensions that have several elements."""
    if tensor.numel() == 0:
        return []
    return [stride for size, stride in zip(tensor.shape, strides) if size != 1]


def repeats_elements(tensor: Any) -> bool:
    """Whether several elements of a tensor may have one place in memory, as those of expanded tensors do."""
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1 and stride <= reach:
            return True
        reach += (size - 1) * stride
    return False


def is_dense(tensor: Any) -> bool:
    """Whether a fake tensor has no gaps, and reads no element twice."""
    return tensor.numel() == 0 or are_dense(tensor.shape, tensor.stride())
