"""What a graph does apart from giving results, and whether that can be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_py._dynamo.capture_mode import memory_of
from torch_py._tensor import Tensor
from torch_py.fx.node import Node, map_arg

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Recorder

_IN_PLACE = frozenset(
    "iadd iand ifloordiv ilshift imatmul imul imod ior ipow irshift isub itruediv ixor".split()
)


def acts(node: Node) -> bool:
    """Whether a call does more than give a result."""
    return bool(node.meta.get("acts")) or _changes_arguments(node) or node.is_impure()


def _changes_arguments(node: Node) -> bool:
    """Whether a call changes a tensor, by its name or its arguments."""
    target = node.target
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    if name.endswith("_") and not name.endswith("__"):
        return True
    if name in _IN_PLACE and getattr(target, "__module__", "") == "_operator":
        return True
    return name == "setitem" or "out" in node.kwargs or bool(node.kwargs.get("inplace"))


def acting_nodes(graph: Any) -> list[Node]:
    """The calls of a graph that do more than give results, apart from those that set switches."""
    calls = (node for node in graph.nodes if node.op.startswith("call") and "sets_state" not in node.meta)
    return [node for node in calls if acts(node)]


def written_tensors(graph: Any) -> list[Any] | None:
    """Fake tensors that calls of a graph may change: None if they change none."""
    acting = acting_nodes(graph)
    return [tensor for node in acting for tensor in _written_by(node)] if acting else None


def _written_by(node: Node) -> list[Any]:
    found: list[Any] = []
    # Methods and operators change their first argument; what functions change is not known.
    is_method = node.op == "call_method" or getattr(node.target, "__module__", "") == "_operator"
    changed = node.args[:1] if is_method and "out" not in node.kwargs else (node.args, node.kwargs)
    map_arg(changed, lambda argument: found.append(argument.meta.get("example_value")))
    return [value for value in found if isinstance(value, Tensor)]


def lasting_effect(recorder: Recorder) -> str:
    """What a graph does that remains if its results are dropped, and that cannot be taken back: empty if
    there is nothing.

    Draws of random numbers can be taken back (`Draws`). Tensors that are made in the graph do not matter.
    """
    mode = recorder.fake_mode
    places = {memory_of(made.fake): made.source.text for made in recorder.inputs.values()}
    for memory in mode.places.written:
        if memory in places:
            return f"changes {places[memory]}"
    if mode.draws_elsewhere:
        return "draws random numbers on another device"

    for node in acting_nodes(recorder.graph):
        if node.meta.get("draws"):
            continue
        written = [memory_of(tensor) for tensor in _written_by(node)]
        if node.meta.get("acts") or not written or not places.keys().isdisjoint(written):
            return f"calls {getattr(node.target, '__qualname__', node.target)}"
    return ""


class Draws:
    """Puts generators of random numbers back to where they were before a graph ran."""

    def __init__(self, generators: list[Any]) -> None:
        self.generators = generators

    def states(self) -> list[Any]:
        return [generator.get_state() for generator in self.generators]

    def take_back(self, states: list[Any]) -> None:
        for generator, state in zip(self.generators, states):
            generator.set_state(state)
