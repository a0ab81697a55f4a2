"""What recording finds out about a call: its functional graph; where the inputs of that come from, arguments
or memory that several of them share; and how the results of the call are made from its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._ops import ops
from torch_py._records import Fields, Record
from torch_py._shapes.formulas import Symbol, evaluate
from torch_py.autograd.grad_mode import inference_mode, no_grad
from torch_py.fx._arguments import map_aggregate
from torch_py.fx.graph_module import GraphModule


class Numbered(Record):
    """One of the arguments, inputs, outputs or results."""

    position: int


class Own(Numbered):
    """An argument itself."""

    def of(self, arguments: Sequence[Any]) -> Any:
        return arguments[self.position]


class Base(Numbered):
    """The tensor that an argument is a view of, which may be itself."""

    def of(self, arguments: Sequence[Any]) -> Any:
        argument = arguments[self.position]
        return argument._base if argument._is_view() else argument


class Memory(Numbered):
    """All memory of an argument, as elements in a row without history."""

    def of(self, arguments: Sequence[Any]) -> Any:
        argument = arguments[self.position]
        count = argument.untyped_storage().nbytes() // argument.itemsize
        return argument.detach().as_strided((count,), (1,), 0)


Source = Own | Base | Memory


class Step(Fields):
    """One view of a chain: an operator, or `strided`, and its arguments after the tensor. Of several results,
    `index`."""

    target: Any
    args: Any
    kwargs: Any
    index: int | None
    without_grad: bool
    retypes: bool = False  # whether the view has another dtype

    def __call__(self, tensor: Any) -> Any:
        """The view of a tensor."""
        if self.without_grad:
            with no_grad():
                return self._view(tensor)
        return self._view(tensor)

    @property
    def form(self) -> tuple[Any, ...]:
        """What is the same for all sizes."""
        return self.target, self.index, self.without_grad, self.retypes

    def with_arguments(self, args: Any, kwargs: Any) -> Step:
        """The same operator with other arguments."""
        return Step(self.target, args, kwargs, self.index, self.without_grad, self.retypes)

    def at(self, values: Mapping[Symbol, int]) -> Step:
        """The step for some values of the symbols in its arguments."""
        args, kwargs = map_aggregate((self.args, self.kwargs), lambda term: evaluate(term, values))
        return self.with_arguments(args, kwargs)

    def _view(self, tensor: Any) -> Any:
        result = self.target(tensor, *self.args, **self.kwargs)
        return result if self.index is None else result[self.index]


def strided(tensor: Any, size: Any, stride: Any, distance: int) -> Any:
    """A view by strides that begins `distance` elements behind `tensor`, wherever in memory that is.

    What `as_strided` takes is a place in memory, which another call of the same code does not have.
    """
    return ops.aten.as_strided.default(tensor, size, stride, tensor.storage_offset() + distance)


def data_of(tensor: Any) -> Any:
    """The memory of a tensor without history, whose changes do not count as changes of the tensor."""
    return tensor.data


class Constant(Record):
    """An object that is not a tensor."""

    value: Any


class InputOfGraph(Numbered):
    """An input of the graph."""


class Same(Numbered):
    """The same object as another result."""


class Computed(Numbered):
    """An output of the graph. `is_inference`: the program makes it in inference mode, but the graph does
    not."""

    is_inference: bool = False

    def of(self, values: Any) -> Any:
        """The tensor, where `values` are the outputs: a list if `is_inference`."""
        if self.is_inference and not values[self.position].is_inference():
            with inference_mode():
                values[self.position] = _on_memory_of(values[self.position])
        return values[self.position]


def _on_memory_of(tensor: Any) -> Any:
    made: Any = _C._torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return made.set_(tensor)


def as_base(tensor: Any) -> Any:
    """A tensor of which results are views: no view itself of what only the graph knows."""
    return _on_memory_of(tensor) if tensor._is_view() and not tensor.requires_grad else tensor


class Viewed(Record):
    """A view, which is taken outside of the graph, so that it has the memory and the history of one.

    The arguments of steps may be formulas of `numbers`: symbols, each with the input of the graph that it is.
    """

    source: InputOfGraph | Computed | Same
    steps: tuple[Step, ...]
    numbers: tuple[tuple[Symbol, int], ...] = ()

    def of(self, tensor: Any, inputs: Sequence[Any]) -> Any:
        """The view of `tensor` in a call whose graph gets `inputs`."""
        values = {symbol: inputs[position] for symbol, position in self.numbers}
        for step in self.steps:
            tensor = (step.at(values) if values else step)(tensor)
        return tensor


class OnInput(Numbered):
    """An output of the graph, which gets the memory of an input: one that a custom Function has returned, and
    that was changed behind the back of autograd."""

    input: int


Recipe = Constant | Own | Same | Computed | Viewed | OnInput


# Facts in `Node.meta` that the passes of this package share.
BACKWARD = "recorded_in_backward"
STEP = "step_of_backward"  # the node of autograd that ran when a node of backward was recorded
TANGENTS = "tangents_of_step"  # the numbers of the tangents that lead autograd to this step
NO_GRAD = "recorded_without_grad"
CHANGED = "input_is_changed"
METADATA = "changed_metadata_with"  # the operator in place, of a view that it made of its argument


class Unsupported(NotImplementedError):
    """A program that cannot be recorded."""

    def __init__(self, what: str) -> None:
        super().__init__(f"ahead-of-time autograd: {what}")


class Change(Record):
    """What a call does to the numbers of an input: it is filled with an output of the graph.

    `is_recorded` says that autograd sees it, `is_counted` that it counts as a change of the input: writes
    through `.data` do not.
    """

    input: int
    value: int
    is_recorded: bool
    is_counted: bool = True


class Reshaping(Record):
    """What a call does to the shape of an argument: operators such as `t_`, each with its arguments and the
    grad mode."""

    argument: int
    operators: tuple[tuple[Any, Any, Any, bool], ...]


class Traced(Fields):
    """A functional graph of a call and its backward.

    The inputs of the graph are `inputs`, and then gradients of the outputs at the positions `tangents`. The
    outputs are `num_outputs` of the call, of which `recipes` make its results, and then a gradient, or None,
    for each of the inputs at the positions `differentiated`; `reached` has the numbers of the tangents that
    autograd brings to each of these inputs. If backward raises `backward_error`, there are no gradients.
    `is_autocast` says whether the program begins under autocast, `leaves_inference` whether it begins in
    inference mode and ends without it.
    """

    module: GraphModule
    inputs: list[Source]
    num_outputs: int
    tangents: list[int]
    differentiated: list[int]
    recipes: list[Recipe]
    changes: list[Change]
    reshapings: list[Reshaping]
    reached: list[list[int]]
    backward_error: Exception | None
    is_autocast: bool
    leaves_inference: bool
