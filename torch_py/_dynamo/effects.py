"""What a graph does apart from giving results, and whether that can be taken back.

A node notes in its `meta` what its call did on fake tensors: it "writes" to arguments, "draws" random
numbers, or "acts" in a way that is not known. Those that have "sets_state" set switches of the thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_py._records import Fields
from torch_py._subclasses.calls import memory_of
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Recorder


def acts(node: Node) -> bool:
    """Whether a call does more than give a result."""
    return not node.meta.keys().isdisjoint(("acts", "draws", "writes")) or node.is_impure()


def lasting_effect(recorder: Recorder) -> str:
    """What a graph does that remains if its results are dropped, and that cannot be taken back: empty if
    there is nothing.

    Draws of random numbers can be taken back (`Draws`). Tensors that are made in the graph do not matter.
    """
    for made in changed_inputs(recorder):
        return f"changes {made.source.text}"
    return unnoticed_effect(recorder)


def changed_inputs(recorder: Recorder) -> list[Any]:
    """The tensors from outside that a graph changes."""
    written = recorder.fake_mode.places.written
    return [made for made in recorder.inputs.values() if memory_of(made.fake) in written]


def unnoticed_effect(recorder: Recorder) -> str:
    """Like `lasting_effect`, but only what leaves no trace in the version of a tensor from outside."""
    if recorder.fake_mode.draws_elsewhere:
        return "draws random numbers on another device"

    for node in recorder.graph.nodes:
        if node.op.startswith("call") and "sets_state" not in node.meta and acts(node):
            if "acts" in node.meta or node.meta.keys().isdisjoint(("draws", "writes")):
                return f"calls {getattr(node.target, '__qualname__', node.target)}"
        if node.target is getattr and node.args[1] == "data":
            return "uses .data"  # which has a version of its own
    return ""


def versions(*tensors: Any) -> list[Any]:
    """Equal to an earlier result if the tensors have not been changed since."""
    return [object() if tensor.is_inference() else tensor._version for tensor in tensors]


class Draws(Fields):
    """Puts generators of random numbers back to where they were before a graph ran."""

    generators: list[Any]

    def states(self) -> list[Any]:
        return [generator.get_state() for generator in self.generators]

    def take_back(self, states: list[Any]) -> None:
        for generator, state in zip(self.generators, states):
            generator.set_state(state)
