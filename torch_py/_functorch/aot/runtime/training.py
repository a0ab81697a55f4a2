"""The forward and the backward graph as one function of autograd."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from torch_py import _C
from torch_py._functorch.aot.traced import Traced
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import inference_mode
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._functorch.aot.watching import Watch

Compiled = Callable[..., Sequence[Any]]
# Places of saved values, and of the tangents and the gradients whose computation uses them.
Use = tuple[list[int], list[int], list[int]]


def training_facts(traced: Traced, backward: Graph, watches: Sequence[Watch]) -> dict[str, Any]:
    """What autograd has to know of a call to differentiate it by the graph `backward`."""
    uses = _Uses(backward, len(traced.tangents))
    return {
        "num_outputs": traced.num_outputs,
        "tangents": traced.tangents,
        "differentiated": traced.differentiated,
        "reached": traced.reached,
        "uses": uses.of_saved(),
        "watches": list(watches),
    }


def facts_with_error(traced: Traced) -> dict[str, Any]:
    """Like `training_facts`, for a program whose backward raises an error."""
    inputs = range(len(traced.inputs))
    return {
        "num_outputs": traced.num_outputs,
        "tangents": traced.tangents,
        "differentiated": list(inputs),
        "reached": [list(range(len(traced.tangents))) for _ in inputs],
        "uses": [],
        "watches": [],
    }


def raising(error: Exception) -> Compiled:
    """In place of the backward of a program that raises an error."""

    def backward(*tangents: Any) -> NoReturn:
        raise error

    return backward


def function_of(
    facts: Mapping[str, Any],
    forward: Compiled,
    backward: Compiled,
    partial: Callable[[Collection[int]], Compiled | None] | None = None,
) -> Compiled:
    """A function of the inputs of the forward graph, which autograd differentiates by the backward graph.

    `forward` and `backward` are what these have been compiled to; `partial` gives what runs instead of
    `backward` if only the tangents with some numbers arrive.
    """
    compiled: Compiled = _C._compiler.CompiledGraph(forward, backward, {**facts, "partial": partial})
    return compiled if _C.is_grad_enabled() else _with_grad(compiled)


def _with_grad(compiled: Compiled) -> Compiled:
    """For a program that is called without grad mode, or in inference mode, and switches it on itself."""

    def called(*inputs: Any) -> Sequence[Any]:
        with inference_mode(False):
            return compiled(*inputs)

    return called


class _Uses:
    """Which parts of a backward graph run for which tangents, and for which gradients.

    The tangents are the last `count` inputs. A part that depends on no tangent runs always, as if it depended
    on all.
    """

    def __init__(self, graph: Graph, count: int) -> None:
        self.graph = graph
        inputs = graph.find_nodes(op="placeholder")
        self.saved = {node: place for place, node in enumerate(inputs[: len(inputs) - count])}
        self.every = frozenset(range(count))
        results: Any = graph.output_node().args[0]
        self.results: Sequence[Node | None] = results

        self._tangents = tangents_of_nodes(graph, inputs[len(inputs) - count :])

    def of_saved(self) -> list[Use]:
        """What saved tensors are used for: where they, or what follows from them alone, meet a tangent."""
        saved: dict[Node, frozenset[int]] = {}
        found: dict[tuple[frozenset[int], frozenset[int]], set[int]] = {}
        gradients = self._gradients()

        for node in self.graph.nodes:
            if node in self.saved:
                is_tensor = isinstance(node.meta["val"], Tensor)
                saved[node] = frozenset((self.saved[node],)) if is_tensor else frozenset()
            elif node.op != "output":
                used = _union(saved, node.all_input_nodes)
                tangents = self._tangents[node]
                saved[node] = frozenset() if tangents else used
                if tangents and used:
                    found.setdefault((tangents, gradients[node]), set()).update(used)

        for place, node in enumerate(self.results):
            if node is not None and saved[node]:
                found.setdefault((self.every, frozenset((place,))), set()).update(saved[node])
        return [(sorted(s), sorted(tangents), sorted(g)) for (tangents, g), s in found.items()]

    def _gradients(self) -> dict[Node, frozenset[int]]:
        """The gradients that each node serves."""
        found: dict[Node, frozenset[int]] = {node: frozenset() for node in self.graph.nodes}
        for place, node in enumerate(self.results):
            if node is not None:
                found[node] |= {place}
        for node in reversed(self.graph.nodes):
            for source in node.all_input_nodes:
                if node.op != "output":
                    found[source] |= found[node]
        return found


def tangents_of_nodes(graph: Graph, tangents: Iterable[Node]) -> dict[Node, frozenset[int]]:
    """The numbers of the tangents that each node of a graph is computed from."""
    found = {node: frozenset((number,)) for number, node in enumerate(tangents)}
    for node in graph.nodes:
        if node not in found:
            found[node] = _union(found, node.all_input_nodes)
    return found


def _union(sets: Mapping[Node, frozenset[int]], nodes: Iterable[Node]) -> frozenset[int]:
    return frozenset().union(*[sets[node] for node in nodes])
