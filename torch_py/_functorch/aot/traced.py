"""What recording finds out about a call: its functional graph, and what is done outside of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_py._functorch.aot.sources import Source
from torch_py._records import Record
from torch_py.fx.graph_module import GraphModule

if TYPE_CHECKING:
    from torch_py._functorch.aot.outputs import Outputs

# Facts in `Node.meta` that the passes of this package share.
BACKWARD = "recorded_in_backward"
NO_GRAD = "recorded_without_grad"
CHANGED = "input_is_changed"
METADATA = "changed_metadata_with"  # the operator in place, of a view that it made of its argument


class Change(Record):
    """What a call does to the numbers of an input: it is filled with an output of the graph.

    `is_recorded` says that autograd sees it, `is_counted` that it counts as a change of the input: writes
    through `.data` do not.
    """

    __slots__ = _fields = ("input", "value", "is_recorded", "is_counted")

    def __init__(self, input: int, value: int, is_recorded: bool, is_counted: bool = True) -> None:
        self.input = input
        self.value = value
        self.is_recorded = is_recorded
        self.is_counted = is_counted


class Reshaping(Record):
    """What a call does to the shape of an argument: operators such as `t_`, each with its arguments and the
    grad mode."""

    __slots__ = _fields = ("argument", "operators")

    def __init__(self, argument: int, operators: tuple[tuple[Any, Any, Any, bool], ...]) -> None:
        self.argument = argument
        self.operators = operators


class Traced:
    """A functional graph of a call and its backward.

    The inputs of the graph are `inputs`, and then gradients of the outputs at the positions `tangents`. The
    outputs are `num_outputs` of the call, and then a gradient, or None, for each of the inputs at the
    positions `differentiated`; `reached` has the numbers of the tangents that autograd brings to each of
    these inputs. If backward raises `backward_error`, there are no gradients. `leaves_inference` says whether
    the program begins in inference mode and ends without it.
    """

    __slots__ = (
        "backward_error", "changes", "differentiated", "inputs", "leaves_inference", "module", "num_outputs",
        "outputs", "reached", "reshapings", "tangents",
    )  # fmt: skip

    def __init__(
        self,
        module: GraphModule,
        inputs: list[Source],
        num_outputs: int,
        tangents: list[int],
        differentiated: list[int],
        outputs: Outputs,
        changes: list[Change],
        reshapings: list[Reshaping],
        reached: list[list[int]],
        backward_error: Exception | None,
        leaves_inference: bool,
    ) -> None:
        self.module = module
        self.inputs = inputs
        self.num_outputs = num_outputs
        self.tangents = tangents
        self.differentiated = differentiated
        self.outputs = outputs
        self.changes = changes
        self.reshapings = reshapings
        self.reached = reached
        self.backward_error = backward_error
        self.leaves_inference = leaves_inference
