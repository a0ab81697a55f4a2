"""The inputs of a graph: arguments of the call, or memory that several of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_py._functorch.aot.recipes import Base, Own, Source
from torch_py._functorch.aot.recording import Recorder
from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import set_grad_enabled
from torch_py.fx.node import Node


class Input(Fields):
    """An input of the graph: `leaf` is what to differentiate by, `given` is for the program; `history` and
    `version` are the grad_fn and the number of changes of that before the program."""

    source: Source
    node: Node
    leaf: Any
    given: Any
    history: Any
    version: int


class Given(Fields):
    """A tensor among the arguments, as the program gets it."""

    position: int
    tensor: Any
    node: Node


class Inputs(Fields):
    """Makes the inputs for `arguments`."""

    recorder: Recorder
    arguments: Sequence[Any]
    names: Sequence[str]
    inputs: list[Input] = []
    given: list[Given] = []

    def make(self, shared: Mapping[int, Source]) -> None:
        """`shared` has other sources than the arguments themselves for some positions."""
        by_source: dict[Source, Input] = {}
        first = _first_positions(self.arguments)
        sources = {position: shared.get(position) or Own(position) for position in first}
        for position, source in sources.items():
            if source not in by_source:
                by_source[source] = self._input(source, self.names[position])
        for position, source in sources.items():
            self.given.append(self._given(position, by_source[source]))

    def _input(self, source: Source, name: str) -> Input:
        name = name if isinstance(source, Own) else f"{name}_memory"
        leaf, given = self.recorder.input(name, source.of(self.arguments))
        made = Input(source, self.recorder.node_of(given), leaf, given, given.grad_fn, version_of(given))
        self.inputs.append(made)
        return made

    def _given(self, position: int, source: Input) -> Given:
        if isinstance(source.source, Own):
            return Given(position, source.given, source.node)

        argument = self.arguments[position]
        has_base = isinstance(source.source, Base)
        has_history = argument.requires_grad and not argument.is_leaf
        is_recorded = not argument._was_viewed_without_grad() if has_base else has_history
        with self.recorder.running(), set_grad_enabled(is_recorded):
            memory = source.given
            if argument.dtype != memory.dtype:
                memory = memory.view(argument.dtype)
            view = memory.as_strided(argument.shape, argument.stride(), argument.storage_offset())
        if has_base:
            view._take_view_origin(argument)
        return Given(position, view, self.recorder.node_of(view))

    def for_program(self) -> list[Any]:
        """The arguments with fake tensors in the place of tensors."""
        tensors = {id(self.arguments[one.position]): one.tensor for one in self.given}
        return [tensors.get(id(argument), argument) for argument in self.arguments]


def version_of(tensor: Any) -> int:
    """How often a tensor was changed; tensors of inference mode do not count."""
    return 0 if tensor.is_inference() else int(tensor._version)


def _first_positions(arguments: Sequence[Any]) -> list[int]:
    """Where each tensor is among the arguments."""
    first: dict[int, int] = {}
    for position, argument in enumerate(arguments):
        if isinstance(argument, Tensor):
            first.setdefault(id(argument), position)
    return list(first.values())
