"""Graphs whose sizes vary, made for some sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch_py._C import float64
from torch_py._functorch.aot.building import Builder, input_values, mode_of
from torch_py._ops import ops
from torch_py._shapes.arguments import Geometry, NotFollowed, stand_in
from torch_py._shapes.formulas import Formula, Symbol, evaluate
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, map_arg

aten: Any = ops.aten


def specialised(module: GraphModule, sizes: Mapping[Symbol, int]) -> GraphModule:
    """The graph for these sizes: without nodes that compute numbers, and with fake tensors of these sizes."""
    mode = mode_of(input_values(module.graph))
    graph = Graph()
    builder = Builder(graph, mode)
    copies: dict[Node, Any] = {}

    for node in module.graph.nodes:
        number = evaluate(node.meta.get("val"), sizes)
        reads_tensors = any(isinstance(copies[argument], Node) for argument in node.all_input_nodes)
        if node.op == "placeholder":
            copies[node] = _input(graph, node, mode, sizes)
        elif isinstance(number, float):
            copies[node] = _real_number(builder, node.meta["val"], sizes)
        elif isinstance(number, int) and not reads_tensors:
            copies[node] = number
        else:
            copies[node] = graph.node_copy(node, lambda argument: copies[argument])  # noqa: B023
        if isinstance(copies[node], Node) and node.op == "call_function":
            copies[node].meta["val"] = _computed(copies[node], mode)
            copies[node] = _of_dtype(builder, copies[node], node.meta["val"])
    return GraphModule(module, graph)


def _of_dtype(builder: Builder, node: Node, like: Any) -> Node:
    """The node, rounded to the dtype of its original: a real number of a size, as a tensor, turns tensors
    without dimensions into such of float64."""
    value = node.meta["val"]
    if not isinstance(value, Tensor) or not isinstance(like, Tensor) or value.dtype == like.dtype:
        return node
    return builder.call(aten._to_copy.default, node, dtype=like.dtype, device=like.device)


def _input(graph: Graph, node: Node, mode: FakeTensorMode, sizes: Mapping[Symbol, int]) -> Any:
    copy = graph.placeholder(node.name)
    copy.meta = dict(node.meta)
    if not isinstance(node.meta["val"], Tensor):
        return evaluate(node.meta["val"], sizes)
    if "sizes" in node.meta:
        geometry = Geometry(node.meta["sizes"], node.meta["strides"])
        copy.meta["val"] = stand_in(mode, node.meta["val"].detach(), geometry, sizes)
    return copy


def _real_number(builder: Builder, term: Any, sizes: Mapping[Symbol, int]) -> Node:
    """A tensor of the value of a term with a real value.

    As a number in the text of a kernel it would be rounded, and its formula lost.
    """
    value = evaluate(term, sizes)
    if not isinstance(term, Formula) or not isinstance(value, float) or term.operation not in _REAL_OPERATORS:
        return builder.call(aten.full.default, [], value, dtype=float64)
    operands = [_real_number(builder, operand, sizes) for operand in term.operands]
    target = _REAL_OPERATORS[term.operation]
    return operands[0] if target is None else builder.call(target, *operands)


_REAL_OPERATORS: dict[str, Any] = {
    "add": aten.add.Tensor,
    "sub": aten.sub.Tensor,
    "mul": aten.mul.Tensor,
    "pow": aten.pow.Tensor_Tensor,
    "truediv": aten.div.Tensor,
    "sym_sqrt": aten.sqrt.default,
    "sym_float": None,
}


def _computed(node: Node, mode: FakeTensorMode) -> Any:
    args, kwargs = map_arg((node.args, node.kwargs), lambda argument: argument.meta["val"])
    try:
        with mode, no_grad():
            return node.target(*args, **kwargs)  # type: ignore[operator]
    except TypeError as error:
        raise NotFollowed(f"`{node.target}` takes no real number that depends on sizes: {error}") from None
