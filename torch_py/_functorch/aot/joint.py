"""One call of a program, and its backward, as a functional graph (`trace`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.building import is_dense
from torch_py._functorch.aot.forms import is_random
from torch_py._functorch.aot.functionalize import Functionalized, is_write, written_nodes
from torch_py._functorch.aot.outputs import Outputs, classify
from torch_py._functorch.aot.programs import Program
from torch_py._functorch.aot.recording import BACKWARD, METADATA, Recorder, memory_of
from torch_py._functorch.aot.views import Step, View, Views, aliased_argument
from torch_py._guards import detect_fake_mode
from torch_py._ops import ops
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.autograd import grad as gradients_of
from torch_py.autograd.grad_mode import set_grad_enabled
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.nn.modules.module import Module


@dataclass
class Change:
    """What a call does to an argument.

    `value` is the output of the graph that it is filled with, None if only its shape changes. `is_recorded`
    says that autograd sees the change. `metadata` are operators such as `t_`, with their arguments.
    """

    argument: int
    value: int | None
    is_recorded: bool
    metadata: list[Any] = field(default_factory=list)


@dataclass
class Traced:
    """A functional graph of a call and its backward.

    The inputs of the graph are the `arguments` (their positions), and then `tangents`, gradients of the
    outputs at these positions. The outputs are `num_outputs` of the call, and then a gradient, or None, for
    each position of `differentiated`.
    """

    module: GraphModule
    arguments: list[int]
    num_outputs: int
    tangents: list[int]
    differentiated: list[int]
    outputs: Outputs
    changes: list[Change]


@dataclass
class _Input:
    """An argument that is a tensor: to differentiate by, and as the program gets it."""

    position: int
    node: Node
    leaf: Any
    given: Any
    history: Any


def trace(
    program: Program,
    arguments: Sequence[Any],
    names: Sequence[str],
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
) -> Traced:
    """Records the call of a program, and its gradients if results require them.

    Arguments that are not tensors are constants of the graph; a tensor that is given twice is one input.
    `program` runs on fake tensors; the arguments themselves are not read, nor changed.
    """
    return _Trace(arguments, decompositions).run(program, names)


class _Trace:
    def __init__(
        self,
        arguments: Sequence[Any],
        decompositions: Mapping[Any, Callable[..., Any]] | None,
    ) -> None:
        self.arguments = arguments
        self.fake_mode: FakeTensorMode = detect_fake_mode(arguments) or FakeTensorMode()
        self.root = Module()
        self.graph = Graph()
        self.recorder = Recorder(self.graph, self.root, self.fake_mode, decompositions)
        self.views = Views()

    def run(self, program: Program, names: Sequence[str]) -> Traced:
        inputs = self._inputs(names)
        with self.recorder.running(), set_grad_enabled(_C.is_grad_enabled()):
            results = self._results(program, inputs)
            outputs = classify(results, inputs, self.recorder, self.views)
            recorded = [one for one in inputs if _has_new_history(one)]
            computed = [*outputs.computed, *(one.given for one in recorded)]
            tangents, gradients = self._gradients(computed, inputs)

        return self._functional(inputs, outputs, recorded, tangents, gradients)

    def _inputs(self, names: Sequence[str]) -> list[_Input]:
        inputs = []
        first: dict[int, int] = {}
        for position, argument in enumerate(self.arguments):
            if isinstance(argument, Tensor) and first.setdefault(id(argument), position) == position:
                leaf, given = self.recorder.input(names[position], argument)
                node = self.recorder.node_of(given)
                inputs.append(_Input(position, node, leaf, given, given.grad_fn))
        return inputs

    def _results(self, program: Program, inputs: list[_Input]) -> list[Any]:
        given = {id(self.arguments[one.position]): one.given for one in inputs}
        arguments = [given.get(id(argument), argument) for argument in self.arguments]
        return program(self.recorder, arguments)

    # Backward
    # ------------------------------------------------------------

    def _gradients(self, computed: list[Any], inputs: list[_Input]) -> tuple[list[int], list[Any]]:
        """The outputs that have a gradient, and the gradient of each input that requires one."""
        wanted = [one.leaf for one in inputs if one.leaf.requires_grad]
        tangents = [i for i, tensor in enumerate(computed) if tensor.requires_grad]
        if not tangents or not wanted:
            return [], []

        self.recorder.context = {BACKWARD: True}
        given = [
            self.recorder.tangent(f"tangents_{number}", computed[i])
            for number, i in enumerate(tangents, start=1)
        ]
        gradients = gradients_of([computed[i] for i in tangents], wanted, given, allow_unused=True)
        return tangents, list(gradients)

    # The functional graph
    # ------------------------------------------------------------

    def _functional(
        self,
        inputs: list[_Input],
        outputs: Outputs,
        recorded: list[_Input],
        tangents: list[int],
        gradients: list[Any],
    ) -> Traced:
        node_of = self.recorder.node_of
        computed = [node_of(tensor) for tensor in outputs.computed]
        found = [None if gradient is None else node_of(gradient) for gradient in gradients]
        owners = self._owners_of_written_memory(inputs)
        functional = Functionalized(self.graph, self.fake_mode, Views(owners))

        values = [functional.separate(functional.latest(node)) for node in computed]
        changes = []
        for one in recorded:
            changes.append(Change(one.position, len(values), True, self._metadata(one)))
            values.append(functional.latest(node_of(one.given)))
        for one in inputs:
            if one not in recorded and functional.is_changed(one.node) and one.node not in owners:
                changes.append(Change(one.position, len(values), False, self._metadata(one)))
                values.append(functional.latest(node_of(one.given)))
            elif one not in recorded and self._metadata(one):
                changes.append(Change(one.position, None, False, self._metadata(one)))

        found = [None if node is None else functional.latest(node) for node in found]
        functional.graph.output([*values, *found])
        remove_dead_nodes(functional.graph)
        return Traced(
            module=GraphModule(self.root, functional.graph),
            arguments=[one.position for one in inputs],
            num_outputs=len(values),
            tangents=tangents,
            differentiated=[one.position for one in inputs if one.leaf.requires_grad] if tangents else [],
            outputs=outputs,
            changes=changes,
        )

    def _owners_of_written_memory(self, inputs: list[_Input]) -> dict[Node, View]:
        """Inputs in memory that is written to and that another input has, as views of that one."""
        written = {
            memory_of(value.meta["val"])
            for node in self.graph.nodes
            if node.op == "call_function" and is_write(node)
            for value in written_nodes(node)
        }
        sharing: dict[int, list[_Input]] = {}
        for one in inputs:
            memory = memory_of(one.node.meta["val"])
            if memory in written:
                sharing.setdefault(memory, []).append(one)

        found: dict[Node, View] = {}
        for group in sharing.values():
            found.update(_as_views_of_one(group))
        return found

    def _metadata(self, one: _Input) -> list[tuple[Any, Any, Any]]:
        """The operators that have changed the shape of an input, with their arguments."""
        node = self.recorder.node_of(one.given)
        changes = []
        while node is not one.node:
            if METADATA in node.meta:
                changes.append((node.meta[METADATA], node.args[1:], node.kwargs))
            source = aliased_argument(node)
            if source is None:
                break
            node = source
        return changes[::-1]


def _has_new_history(one: _Input) -> bool:
    """Whether autograd has seen that the program changed the input."""
    return bool(one.given.requires_grad) and one.given.grad_fn is not one.history


def _as_views_of_one(group: list[_Input]) -> dict[Node, View]:
    """Inputs that share memory as views of the one that contains all of them."""
    if len(group) == 1:
        return {}
    if sum(one.leaf.requires_grad for one in group) > 1:
        raise NotImplementedError(
            "ahead-of-time autograd: arguments that share memory and require gradients are changed in place"
        )
    extents = {one.node: _extent(one.node.meta["val"]) for one in group}
    owner = max(group, key=lambda one: extents[one.node][1] - extents[one.node][0])
    low, high = extents[owner.node]
    value = owner.node.meta["val"]
    if any(start < low or end > high for start, end in extents.values()) or not is_dense(value):
        raise NotImplementedError(
            "ahead-of-time autograd: arguments that overlap are changed in place, and none of them contains "
            "the others"
        )

    found = {}
    for one in group:
        if one is not owner:
            own = one.node.meta["val"]
            if own.dtype != value.dtype:
                raise NotImplementedError(
                    "ahead-of-time autograd: arguments of several dtypes share memory that is changed in place"
                )
            args = (list(own.shape), list(own.stride()), own.storage_offset())
            found[one.node] = View(owner.node, (Step(ops.aten.as_strided.default, args, {}, None, True),))
    return found


def _extent(value: Any) -> tuple[int, int]:
    """The first element of memory that a tensor reads, and the one behind the last."""
    start = value.storage_offset()
    if value.numel() == 0:
        return start, start
    return start, start + 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))


def remove_dead_nodes(graph: Graph) -> None:
    """Removes what nothing uses, but random operators: later ones draw other numbers without them."""
    for node in reversed(graph.nodes):
        if not node.users and node.op not in ("placeholder", "output") and not is_random(node.target):
            graph.erase_node(node)
