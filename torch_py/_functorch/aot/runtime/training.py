"""The forward and the backward graph as one function of autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from torch_py import _C
from torch_py._functorch.aot.joint import Traced
from torch_py.autograd.grad_mode import enable_grad
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

Compiled = Callable[..., Sequence[Any]]


def training_function(traced: Traced, forward: Compiled, backward: Compiled, graph: Graph) -> Compiled:
    """A function of the inputs of the forward graph, which autograd differentiates by the backward graph.

    `forward` and `backward` are what these have been compiled to; `graph` is the backward graph.
    """
    reached = _tangents_reaching(graph, len(traced.tangents))
    return _function(traced, forward, backward, traced.differentiated, reached)


def function_with_error(traced: Traced, forward: Compiled) -> Compiled:
    """Like `training_function`, for a program whose backward raises an error."""

    def backward(*tangents: Any) -> NoReturn:
        assert traced.backward_error is not None
        raise traced.backward_error

    inputs = range(len(traced.inputs))
    return _function(
        traced, forward, backward, list(inputs), [list(range(len(traced.tangents))) for _ in inputs]
    )


def _function(
    traced: Traced, forward: Compiled, backward: Compiled, differentiated: list[int], reached: list[list[int]]
) -> Compiled:
    metadata = {
        "num_outputs": traced.num_outputs,
        "tangents": traced.tangents,
        "differentiated": differentiated,
        "reached": reached,
    }
    compiled: Compiled = _C._compiler.CompiledGraph(forward, backward, metadata)
    return compiled if _C.is_grad_enabled() else _with_grad(compiled)


def _with_grad(compiled: Compiled) -> Compiled:
    """For a program that is called without grad mode and switches it on itself."""

    def called(*inputs: Any) -> Sequence[Any]:
        with enable_grad():
            return compiled(*inputs)

    return called


def _tangents_reaching(graph: Graph, count: int) -> list[list[int]]:
    """For each output of a backward graph, which of its last `count` inputs it is computed from.

    A gradient that depends on none is always wanted, as if it depended on all.
    """
    inputs = graph.find_nodes(op="placeholder")
    sources: dict[Node, frozenset[int]] = {node: frozenset() for node in inputs}
    for number, node in enumerate(inputs[len(inputs) - count :]):
        sources[node] = frozenset((number,))
    for node in graph.nodes:
        if node not in sources and node.op != "output":
            sources[node] = frozenset().union(*[sources[source] for source in node.all_input_nodes])

    results: Any = graph.output_node().args[0]
    every = list(range(count))
    return [[] if node is None else sorted(sources[node]) or every for node in results]
