"""Reduces graphs: finds a small part of a graph for which something still holds.

    smaller, given = minified(module, inputs, lambda module, inputs: fails(module, inputs))

A graph is cut after a node, loses results, and its nodes become inputs, with the values that they had; in
chunks, which are halved when nothing more can go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py.fx._arguments import nodes_in
from torch_py.fx._copies import copied
from torch_py.fx._order import reached
from torch_py.fx.experimental.optimization import extract_subgraph
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.interpreter import Interpreter
from torch_py.fx.node import Node

Fails = Callable[[GraphModule, list[Any]], bool]


def minified(
    module: GraphModule,
    inputs: Sequence[Any],
    fails: Fails,
    keep: Callable[[GraphModule, list[Any]], None] = lambda module, inputs: None,
) -> tuple[GraphModule, list[Any]]:
    """A smaller graph, and inputs of it, for which ``fails(module, inputs)`` is true.

    `keep` is called with the whole graph, and with each smaller one that is found. Raises ValueError if the
    whole graph does not fail.
    """
    state = _State(module, list(inputs))
    if not fails(state.module, state.copies()):
        raise ValueError("the graph does not fail, so it cannot be reduced")

    keep(state.module, state.copies())
    while True:
        for smaller in _candidates(state):
            if smaller.size < state.size and fails(smaller.module, smaller.copies()):
                state = smaller
                keep(state.module, state.copies())
                break
        else:
            return state.module, state.inputs


class _State(Fields):
    """A graph with inputs."""

    module: GraphModule
    inputs: list[Any]

    @property
    def size(self) -> tuple[int, int, int]:
        """Calls, results and inputs: the fewer, the smaller."""
        return len(_calls_in(self.module)), len(_results(self.module.graph)), len(self.inputs)

    def copies(self) -> list[Any]:
        """The inputs, for a call that may change them."""
        return [copied(value) for value in self.inputs]

    def values(self) -> dict[Node, Any]:
        """The tensors that nodes compute for the inputs, up to a node that cannot be run."""
        interpreter = Interpreter(self.module, garbage_collect_values=False)
        with suppress(Exception):
            interpreter.run(*self.copies())
        return {node: copied(value) for node, value in interpreter.env.items() if isinstance(value, Tensor)}


def _results(graph: Graph) -> list[Any]:
    found: Any = graph.output_node().args[0]
    return list(found) if isinstance(found, (list, tuple)) else [found]


# Smaller graphs
# ------------------------------------------------------------


def _candidates(state: _State) -> Iterator[_State]:
    """Smaller forms of a graph, the smallest first."""
    nodes = _calls_in(state.module)
    values = state.values()
    results = _results(state.module.graph)
    yield from _prefixes(state, nodes)
    for first, end in _chunks(len(results)):
        yield _rebuilt(state, results[:first] + results[end:], {})
    for first, end in _chunks(len(nodes)):  # become inputs
        known = {node: values[node] for node in nodes[first:end] if node in values}
        if known:
            yield _rebuilt(state, results, known)


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    """Halves of so many things, quarters, and so on."""
    size = count
    while size > 1:
        size //= 2
        for first in range(0, count, size):
            yield first, first + size


def _prefixes(state: _State, nodes: Sequence[Node]) -> Iterator[_State]:
    """The graph up to a node, with its value as the result: cut in the middle, then later and later."""
    end = len(nodes)
    begin = 0
    while begin < end:
        middle = (begin + end) // 2
        yield _rebuilt(state, [nodes[middle]], {})
        begin = middle + 1


def _rebuilt(state: _State, results: Sequence[Any], known: dict[Node, Any]) -> _State:
    """The part of a graph that computes these results. `known` become inputs with these values."""
    nodes = state.module.graph.nodes
    given = {**known, **dict(zip((node for node in nodes if node.op == "placeholder"), state.inputs))}
    outputs = nodes_in(results)
    needed = set(reached(outputs, lambda node: [] if node in given else node.all_input_nodes))

    inputs = [node for node in nodes if node in needed and node in given]
    inner = [node for node in nodes if node in needed and node not in given]
    module = extract_subgraph(state.module, inner, inputs, outputs)
    return _State(module, [given[node] for node in inputs])


def _calls_in(module: GraphModule) -> list[Node]:
    return [node for node in module.graph.nodes if node.op.startswith("call")]
