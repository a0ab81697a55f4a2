"""The forward and the backward graph as one function of autograd."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from torch_py import _C
from torch_py._functorch.aot.recipes import Own, Traced
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import inference_mode
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._functorch.aot.partition import Watch

Compiled = Callable[..., Sequence[Any]]
# Places of saved values, and of the tangents and the gradients whose computation uses them.
Use = tuple[list[int], list[int], list[int]]


def training_facts(
    traced: Traced, backward: Graph | None = None, watches: Sequence[Watch] = ()
) -> dict[str, Any]:
    """What autograd has to know of a call to differentiate it by the graph `backward`; None if that raises an
    error."""
    facts = {name: getattr(traced, name) for name in ("num_outputs", "tangents", "differentiated", "reached")}
    uses = [] if backward is None else _uses_of_saved(backward, len(traced.tangents))
    changes = {Own(one.argument): len(one.operators) for one in traced.reshapings}
    reshaped = [[i, changes[source]] for i, source in enumerate(traced.inputs) if source in changes]
    return {
        **facts, "uses": uses, "watches": list(watches), "reshaped": reshaped, "raises": backward is None
    }  # fmt: skip


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


def _uses_of_saved(graph: Graph, count: int) -> list[Use]:
    """What saved tensors are used for: where they, or what follows from them alone, meet a tangent.

    The tangents are the last `count` inputs of a backward graph. A gradient that depends on no tangent runs
    always, as if it depended on all.
    """
    results: Any = graph.output_node().args[0]
    inputs = graph.find_nodes(op="placeholder")
    places = {node: place for place, node in enumerate(inputs[: len(inputs) - count])}
    tangents = tangents_of_nodes(graph, inputs[len(inputs) - count :])
    gradients = _gradients_of_nodes(graph, results)
    saved: dict[Node, frozenset[int]] = {}
    found: defaultdict[tuple[frozenset[int], frozenset[int]], set[int]] = defaultdict(set)

    for node in graph.nodes:
        if node in places:
            saved[node] = frozenset((places[node],) if isinstance(node.meta["val"], Tensor) else ())
        elif node.op != "output":
            used = _union(saved, node.all_input_nodes)
            saved[node] = frozenset() if tangents[node] else used
            if tangents[node] and used:
                found[tangents[node], gradients[node]] |= used

    for place, node in enumerate(results):
        if node is not None and saved[node]:
            found[frozenset(range(count)), frozenset((place,))] |= saved[node]
    return [(sorted(s), sorted(t), sorted(g)) for (t, g), s in found.items()]


def _gradients_of_nodes(graph: Graph, results: Sequence[Node | None]) -> Mapping[Node, frozenset[int]]:
    """The gradients that each node serves: `results` of the graph."""
    found: defaultdict[Any, frozenset[int]] = defaultdict(frozenset)
    for place, result in enumerate(results):
        found[result] |= {place}
    for node in reversed(graph.nodes):
        found[node] |= _union(found, node.users)
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
