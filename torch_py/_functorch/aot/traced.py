"""What recording finds out about a call: its functional graph, and what is done outside of the graph."""

from __future__ import annotations

from typing import Any

from torch_py._functorch.aot.recipes import Recipe, Source
from torch_py._records import Fields, Record
from torch_py.fx.graph_module import GraphModule

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
