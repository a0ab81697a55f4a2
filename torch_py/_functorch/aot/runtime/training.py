"""The forward and the backward graph as one function of autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.joint import Traced
from torch_py.autograd import Function
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node


class Layout:
    """Where forward and backward find what they exchange: positions among inputs and outputs."""

    def __init__(self, traced: Traced) -> None:
        self.num_outputs = traced.num_outputs
        self.tangents = traced.tangents
        self.without_gradient = [i for i in range(self.num_outputs) if i not in set(traced.tangents)]
        self.differentiated = traced.differentiated
        self.num_inputs = len(traced.inputs)


def training_function(
    layout: Layout,
    forward: Callable[..., Sequence[Any]],
    backward: Callable[..., Sequence[Any]],
    tangent_facts: Sequence[Any],
    reached: Sequence[frozenset[int]],
) -> Callable[..., Any]:
    """Returns a function of the tensors that the forward graph gets, which autograd differentiates by the
    backward graph.

    `tangent_facts` are fake tensors like the gradients that backward expects. `reached` has for each gradient
    which of them it depends on.
    """

    class Compiled(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            values = forward(*inputs)
            outputs = tuple(values[: layout.num_outputs])
            ctx.save_for_backward(*values[layout.num_outputs :])
            ctx.mark_non_differentiable(*[outputs[i] for i in layout.without_gradient])
            ctx.set_materialize_grads(False)
            return outputs

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            tangents = [gradients[i] for i in layout.tangents]
            defined = frozenset(i for i, tangent in enumerate(tangents) if tangent is not None)
            given = [_fitted(tangent, like) for tangent, like in zip(tangents, tangent_facts)]
            found = backward(*ctx.saved_tensors, *given)

            results: list[Any] = [None] * layout.num_inputs
            for position, gradient, sources in zip(layout.differentiated, found, reached):
                if gradient is not None and sources & defined:
                    results[position] = gradient
            return tuple(results)

    return Compiled.apply


def _fitted(tangent: Any, like: Any) -> Any:
    """A gradient with the strides that backward was compiled for; zeros for an output that has none."""
    if tangent is None:
        return _C._torch.empty_strided(
            like.shape, like.stride(), dtype=like.dtype, device=like.device
        ).zero_()
    if tangent.stride() == like.stride() or tangent.numel() == 0:
        return tangent
    made = _C._torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device=like.device)
    return made.copy_(tangent)


def tangents_reaching(graph: Graph, num_kept: int) -> list[frozenset[int]]:
    """For each output of a backward graph, the tangents that it is computed from."""
    sources: dict[Node, frozenset[int]] = {}
    number = 0
    for node in graph.nodes:
        if node.op == "placeholder":
            sources[node] = frozenset((number - num_kept,)) if number >= num_kept else frozenset()
            number += 1
        elif node.op != "output":
            sources[node] = frozenset().union(*[sources[source] for source in node.all_input_nodes])
    results: Any = graph.output_node().args[0]
    return [frozenset() if node is None else sources[node] for node in results]
