"""The forward and the backward graph as one function of autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.joint import Traced
from torch_py.autograd import Function
from torch_py.autograd.grad_mode import no_grad
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

    class CompiledFunction(Function):
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
            given = [_fitted(tangent, like) for tangent, like in zip(tangents, tangent_facts)]
            with no_grad():
                found = list(backward(*ctx.saved_tensors, *given))
            if _C.is_grad_enabled():
                found = _differentiated_once(found, [*ctx.saved_tensors, *given])

            # Without a gradient that it depends on, a gradient is undefined and not zero.
            defined = {i for i, tangent in enumerate(tangents) if tangent is not None}
            results: list[Any] = [None] * layout.num_inputs
            for position, gradient, sources in zip(layout.differentiated, found, reached):
                if not sources or sources & defined:
                    results[position] = gradient
            return tuple(results)

    return CompiledFunction.apply


def function_with_error(
    layout: Layout, forward: Callable[..., Sequence[Any]], error: Exception
) -> Callable[..., Any]:
    """Like `training_function`, for a program whose backward raises `error`."""

    class CompiledFunction(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            outputs = tuple(forward(*inputs))
            ctx.mark_non_differentiable(*[outputs[i] for i in layout.without_gradient])
            return outputs

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            raise error

    return CompiledFunction.apply


# Gradients
# ------------------------------------------------------------


class _DifferentiatedOnce(Function):
    """Gives gradients on whose own gradients are refused."""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Any) -> Any:
        return tuple(gradient.view_as(gradient) for gradient in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "a function compiled with ahead-of-time autograd does not support higher derivatives; compute "
            "them inside of the compiled function, or run it with backend='eager'"
        )


def _differentiated_once(gradients: list[Any], sources: list[Any]) -> list[Any]:
    """The gradients as results of `sources`, so that differentiating them raises."""
    defined = [gradient for gradient in gradients if gradient is not None]
    again = iter(_DifferentiatedOnce.apply(len(defined), *defined, *sources))
    return [None if gradient is None else next(again) for gradient in gradients]


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
