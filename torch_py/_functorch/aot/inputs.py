"""The inputs of a graph: arguments of the call, or memory that several of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_py._functorch.aot.functionalize import written_nodes
from torch_py._functorch.aot.recipes import Base, Memory, Own, Source, Step, Unsupported
from torch_py._functorch.aot.recording import Recorder
from torch_py._functorch.aot.views import View, Views
from torch_py._ops import ops
from torch_py._records import Fields
from torch_py._shapes.arguments import is_dense, reach
from torch_py._subclasses.calls import memory_of
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import set_grad_enabled
from torch_py.fx.graph import Graph
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
        first: dict[int, int] = {}  # where each tensor is among the arguments
        for position, argument in enumerate(self.arguments):
            if isinstance(argument, Tensor):
                first.setdefault(id(argument), position)
        sources = {position: shared.get(position) or Own(position) for position in first.values()}
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


# Memory that the program writes to and that it also sees in other ways
# ------------------------------------------------------------


class Sharing:
    """What to do about inputs in memory that the program writes to and that it also sees in other ways.

    `sources` are other inputs to record the program again with, from which the arguments are taken as views.
    Without these, `views` has inputs as views of another one.
    """

    def __init__(
        self, graph: Graph, inputs: Sequence[Input], arguments: Sequence[Any], views: Views, backward: bool
    ) -> None:
        self.arguments = arguments
        self.sources: dict[int, Source] = {}
        self.views: dict[Node, View] = {}

        written = {memory_of(value.meta["val"]) for node in graph.nodes for value in written_nodes(node)}
        groups: dict[int, list[Input]] = {}
        for one in inputs:
            memory = memory_of(one.node.meta["val"])
            if memory in written:
                groups.setdefault(memory, []).append(one)

        reaching = _reaching_out(graph, views) if groups else set()
        for group in groups.values():
            reaches_out = any(one.node in reaching for one in group)
            # Views of one base have one version: backward would take a change of one for a change of another
            # that it keeps.
            count_together = backward and len({id(base) for base in self._bases(group)}) == 1
            if reaches_out or (len(group) > 1 and (count_together or _overlap(group))):
                self._add(group, reaches_out)

    def _bases(self, group: list[Input]) -> list[Any]:
        return [Base(one.source.position).of(self.arguments) for one in group]

    def _add(self, group: list[Input], reaches_out: bool) -> None:
        if not all(isinstance(one.source, Own) for one in group):
            place = "by as_strided, outside of the tensor that it is given"
            raise Unsupported(f"the program changes memory in place that it reaches {place}")
        positions = [one.source.position for one in group]
        tensors = [self.arguments[position] for position in positions]
        bases = self._bases(group)

        # What is written may give all of them a history, which only views of one base share: a view that
        # is a leaf has gradients of its own.
        have_history = any(tensor.requires_grad for tensor in tensors)
        has_own_leaf = any(t.requires_grad and t.is_leaf and t is not base for t, base in zip(tensors, bases))
        is_one_base = all(base is bases[0] for base in bases)
        if is_one_base and not has_own_leaf and (have_history or not reaches_out):
            self.sources.update(dict.fromkeys(positions, Base(positions[0])))
        elif not have_history:
            self.sources.update(dict.fromkeys(positions, Memory(positions[0])))
        else:
            self.views.update(_as_views_of_one(group))


def _reaching_out(graph: Graph, views: Views) -> set[Node]:
    """Inputs that `as_strided` reads by their place in memory, where copies of them have another one."""
    found = set()
    for node in graph.find_nodes(op="call_function", target=ops.aten.as_strided.default):
        root = views.of(node).root
        if root.op != "placeholder":
            continue
        low, high = _extent(root.meta["val"])
        start, end = _extent(node.meta["val"])
        if start < low or end > high or not is_dense(root.meta["val"]):
            found.add(root)
    return found


def _overlap(group: list[Input]) -> bool:
    """Whether some of the inputs may share elements."""
    extents = sorted(_extent(one.node.meta["val"]) for one in group)
    same_type = len({one.node.meta["val"].dtype for one in group}) == 1
    return not same_type or any(end > start for (_, end), (start, _) in zip(extents, extents[1:]))


def _as_views_of_one(group: list[Input]) -> dict[Node, View]:
    """Inputs that share memory as views of the one that contains all of them."""
    extents = {one.node: _extent(one.node.meta["val"]) for one in group}
    owner = max(group, key=lambda one: extents[one.node][1] - extents[one.node][0])
    low, high = extents[owner.node]
    value = owner.node.meta["val"]
    contained = all(low <= start and end <= high for start, end in extents.values())
    same_type = all(one.node.meta["val"].dtype == value.dtype for one in group)
    one_gradient = sum(one.leaf.requires_grad for one in group) == 1
    if not (contained and same_type and one_gradient and is_dense(value)):
        what = "changes an argument in place that shares memory with others that require gradients"
        raise Unsupported(f"the program {what} without being views of one tensor")

    found = {}
    for one in group:
        if one is not owner:
            own = one.node.meta["val"]
            args = (list(own.shape), list(own.stride()), own.storage_offset())
            found[one.node] = View(owner.node, (Step(ops.aten.as_strided.default, args, {}, None, True),))
    return found


def _extent(value: Any) -> tuple[int, int]:
    """The first element of memory that a tensor reads, and the one past the last."""
    start = value.storage_offset()
    return start, start + reach(value.shape, value.stride())
