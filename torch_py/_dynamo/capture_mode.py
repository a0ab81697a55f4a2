"""The fake tensors of a capture, and what the calls on them say about the program and its graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._dynamo.exc import data_dependent
from torch_py._records import Fields
from torch_py._shapes.arguments import repeats_elements
from torch_py._subclasses.calls import generator_in, memory_of, tensors_in
from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.recorder import Recorder


# Fake tensors, unlike real ones, are copied from the meta device to others.
_COPIES = ("aten::copy_", "aten::_to_copy")
MOST_CALLS = 10_000  # of operators in one call on stand-ins, each of which is larger


class TooManyCalls(RuntimeError):
    """A call on stand-ins calls more than MOST_CALLS operators."""


class CaptureMode(FakeTensorMode):
    """Computes shapes, and notes when an operator would draw random numbers or change tensors: in the program
    and (`has_drawn`, `written`) since `begin`."""

    has_drawn = False
    calls_left: float = math.inf  # before TooManyCalls is raised
    problem = ""  # why graphs cannot have a call that was made

    def __init__(self) -> None:
        super().__init__()
        self.written: set[int] = set()  # the memory
        self.places = Places()
        self.generators: list[Any] = []  # that numbers are drawn from
        self.draws_elsewhere = False  # from a generator of another device than the CPU

    def asked_for_text(self) -> None:
        if self._is_entered() and _C._is_torch_function_mode_enabled():
            raise data_dependent("the text of a tensor")

    def begin(self) -> None:
        self.has_drawn = False
        self.written = set()

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        written = self.places.note(func, args, kwargs)
        self.calls_left -= 1
        if self.calls_left < 0:
            raise TooManyCalls

        result = super()._call(func, args, kwargs)
        if written:
            self.written |= memory_in(written, {}).keys()
        if written and self.places.overlap(written):
            self.problem = "it changes a tensor some of whose elements are in the same place"
        is_copy = func._schema.name in _COPIES and not result.is_meta
        if is_copy and any(tensor.is_meta for tensor in tensors_in(args, kwargs)):
            self.problem = "it fails, as it copies elements of a tensor on the meta device"
        if "inplace_view" in func.tags and _C.is_inference_mode_enabled() and not args[0].is_inference():
            self.problem = "inference mode changes the shape of a tensor that was made outside of it"

        if "nondeterministic_seeded" in func.tags:
            self._note_generator(args, kwargs, result)
        return result

    def _note_generator(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        self.has_drawn = True
        generator = generator_in(args, kwargs)
        if generator is None:
            if any(tensor.device.type != "cpu" for tensor in tensors_in((result, *args), kwargs)):
                self.draws_elsewhere = True
            generator = _C.default_generator
        if generator not in self.generators:
            self.generators.append(generator)

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Calls in the block are not those of the program."""
        places, self.places = self.places, Places()
        try:
            yield
        finally:
            self.places = places


class Places(Fields):
    """What the program does in memory: where it writes (`written`), and where it counts from the first
    element, wherever its tensors begin.

    A view by strides without an offset begins where its tensor does. Writes to it are made by functional
    operators later, which count from the first element again.
    """

    written: dict[int, Any] = {}  # kept, so that no other memory gets the same number
    _overlapping: set[int] = set()
    _counted: set[int] = set()
    _strided: set[int] = set()

    def note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What a call says about the memory of its arguments; returns what it writes to."""
        written: list[Any] = []
        for position, argument in enumerate(func._schema.arguments):
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            if argument.is_write:
                written += tensors_in((value,), {})
            if argument.name == "storage_offset":
                found = self._strided if value is None else self._counted
                found.update(memory_in(args, kwargs))
        if written:
            self.written.update(memory_in(written, {}))
        return written

    def note_input(self, fake: Any) -> None:
        if _repeats_elements(fake):
            self._overlapping.add(memory_of(fake))

    def overlap(self, written: list[Any]) -> bool:
        """Whether what is written to one element of some tensors shows in others."""
        if any(map(_repeats_elements, written)):
            return True
        return not self._overlapping.isdisjoint(memory_in(written, {}))

    def count(self, fake: Any) -> None:
        """Notes that the program has asked where a tensor begins."""
        self._counted.add(memory_of(fake))

    def reached(self) -> set[int]:
        """Memory that is read or written by place, so that tensors do not tell which elements these are."""
        return self._counted | self._strided

    def matter_for(self, fake: Any) -> bool:
        """Whether another place of a tensor in its memory makes a difference."""
        return memory_of(fake) in self._counted | (self._strided & self.written.keys())


def _repeats_elements(tensor: Any) -> bool:
    return tensor.layout is _C.strided and repeats_elements(tensor)


def memory_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, Any]:
    """The memory of fake tensors by its number."""
    fakes = [tensor for tensor in tensors_in(args, kwargs) if isinstance(tensor, FakeTensor)]
    return {memory_of(fake): (fake, fake._twin) for fake in fakes}


# What a graph does apart from giving results, and whether that can be taken back

# A node notes in its `meta` what its call did on fake tensors: it "writes" to arguments, "draws" random
# numbers, or "acts" in a way that is not known. Those that have "sets_state" set switches of the thread.


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

    unnoticed: set[Any] = set()  # memories that are known as `.data`, which has a version of its own
    for node in recorder.graph.nodes:
        if "writes" in node.meta and not unnoticed.isdisjoint(map(_memory_at, node.all_input_nodes)):
            return "changes .data"
        if node.op.startswith("call") and "sets_state" not in node.meta and acts(node):
            if "acts" in node.meta or node.meta.keys().isdisjoint(("draws", "writes")):
                return f"calls {getattr(node.target, '__qualname__', node.target)}"
        if node.target is getattr and node.args[1] == "data":
            unnoticed.add(_memory_at(node))
    return ""


def _memory_at(node: Node) -> Any:
    """The memory of the tensor that a node gives; None if it gives something else."""
    value = node.meta.get("example_value")
    return memory_of(value) if isinstance(value, FakeTensor) else None


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
