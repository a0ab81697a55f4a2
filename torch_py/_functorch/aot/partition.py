"""A joint graph as two, one for the call and one for backward: what the first keeps for the second."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch_py._functorch.aot.max_flow import UNLIMITED, Network
from torch_py._functorch.aot.nodes import is_random
from torch_py._functorch.aot.recipes import BACKWARD, CHANGED, Own, Traced
from torch_py._functorch.aot.runtime import Watch, tangents_of_nodes
from torch_py._functorch.aot.views import aliased_argument
from torch_py._ops import ops
from torch_py._shapes.formulas import Formula, Symbol
from torch_py._tensor import Tensor
from torch_py.fx._arguments import nodes_in
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx._order import reached
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

_COPIES = frozenset((ops.aten.clone.default, ops.aten._to_copy.default))
# Structures of operators that become a part of a loop over elements.
_FUSED = frozenset(("pointwise", "reduction", "view"))
# So many operators in a row are computed again at most.
_LONGEST_CHAIN = 10


def default_partition(
    joint_module: GraphModule,
    _joint_inputs: Any,
    *,
    num_fwd_outputs: int,
    static_lifetime_input_indices: Sequence[int] | None = None,
) -> tuple[GraphModule, GraphModule]:
    """Splits a joint graph where the program does: what the call computes is kept for backward, as eager
    autograd would.

    Returns the module of the forward graph, whose outputs are those of the call and then what backward needs,
    and the module of the backward graph, whose inputs are the latter and the gradients of the outputs. Views
    are not kept, but taken again.
    """
    joint = Joint(joint_module, num_fwd_outputs)
    return joint.split(joint.kept_by_default())


def min_cut_rematerialization_partition(
    joint_module: GraphModule,
    _joint_inputs: Any,
    compiler: str = "inductor",
    *,
    num_fwd_outputs: int,
    static_lifetime_input_indices: Sequence[int] | None = None,
) -> tuple[GraphModule, GraphModule]:
    """Splits a joint graph so that the least memory is kept for backward, which computes the rest again.

    Pointwise operators, views and copies are computed again; random numbers, reductions, products of matrices
    and the like never are. What is kept is never more than `default_partition` keeps. Inputs at
    `static_lifetime_input_indices`, such as parameters, cost nothing. `compiler` is accepted for PyTorch's
    sake. Returns what `default_partition` returns.
    """
    joint = Joint(joint_module, num_fwd_outputs)
    return joint.split(_LeastMemory(joint, static_lifetime_input_indices or ()).kept())


class _LeastMemory:
    """The cheapest set of values from which backward can be computed, as a cut through a network.

    Each node is two vertices, with an edge between them that costs the memory of its value. Flow comes from
    nodes that are never computed again, follows the uses of values and leaves where backward uses one.
    """

    def __init__(self, joint: Joint, static: Sequence[int]) -> None:
        self.joint = joint
        needed = reached_from(nodes_in(joint.gradients))
        self.nodes = [n for n in joint.module.graph.nodes if n in needed and n in joint.forward]
        self.numbers = {node: number for number, node in enumerate(self.nodes)}

        inputs = joint.module.graph.find_nodes(op="placeholder")
        unchanged = {inputs[position] for position in static if CHANGED not in inputs[position].meta}
        self._free = {n for n in joint.kept_by_default() if n.op == "placeholder"} | unchanged
        self._results = set(nodes_in(joint.gradients))
        self._compared = _compared_values(joint.module.graph)
        self._distances = self._distances_to_backward()

    def kept(self) -> list[Node]:
        source = 2 * len(self.nodes)
        sink = source + 1
        network = Network(sink + 1)
        for number, node in enumerate(self.nodes):
            network.connect(2 * number, 2 * number + 1, self._cost(node))
            if not self._is_cheap(node):
                network.connect(source, 2 * number, UNLIMITED)
            if self._distances[node] == 0:
                network.connect(2 * number + 1, sink, UNLIMITED)
            for user in node.users:
                if user in self.numbers:
                    network.connect(2 * number + 1, 2 * self.numbers[user], UNLIMITED)

        near = network.cut(source, sink)
        cut = [n for i, n in enumerate(self.nodes) if 2 * i in near and 2 * i + 1 not in near]
        return [node for node in cut if node.op != "get_attr"]

    def _distances_to_backward(self) -> dict[Node, int]:
        """For each node, how many operators of the call lie between it and its first use by backward."""
        found: dict[Node, int] = {}
        for node in reversed(self.nodes):
            distances = [found[user] + 1 for user in node.users if user in self.numbers]
            if node in self._results or any(user not in self.joint.forward for user in node.users):
                distances.append(0)
            found[node] = min(distances, default=0)
        return found

    def _cost(self, node: Node) -> int:
        """The memory that keeping a value takes; unlimited for what can't be kept.

        A bit more for values that the call would else not write to memory, so that of two of the same size
        the other one is kept.
        """
        if node.op == "get_attr":
            return 0
        if node in self._free:
            return 1
        value = node.meta["val"]
        if isinstance(value, Symbol):
            return 0
        if not isinstance(value, Tensor) or is_view(node) or CHANGED in node.meta:
            return UNLIMITED
        return 2 * max(1, value.numel() * value.itemsize) + (not self._is_stored(node))

    def _is_stored(self, node: Node) -> bool:
        """Whether the call has a value in memory anyway: a fused loop does not make it, or not use it."""
        if _structure(node) not in _FUSED:
            return True
        users = [user for user in node.users if user in self.joint.forward]
        loops = [is_view(user) or _structure(user) in _FUSED for user in users]
        return not all(loops) or any(self._is_stored(user) for user in users if is_view(user))

    def _is_cheap(self, node: Node) -> bool:
        """Whether backward may compute a node again."""
        if node.op != "call_function" or is_random(node.target) or node in self._compared:
            return False
        if is_view(node):
            return True
        if node.target is operator.getitem or self._distances[node] > _LONGEST_CHAIN:
            return False
        is_factory = not node.all_input_nodes and hasattr(node.target, "_schema")
        return is_factory or node.target in _COPIES or _structure(node) == "pointwise"


def _structure(node: Node) -> str:
    return getattr(node.target, "_structure", "")


def _compared_values(graph: Graph) -> set[Node]:
    """What is tested for being equal to something, as the gradient of `amax` does.

    Computed again, by other instructions, real numbers differ in the last bit.
    """
    tests = [node for node in graph.nodes if getattr(node.target, "_opname", "") in ("eq", "ne")]
    return {memory_of(value) for node in tests for value in nodes_in(node.args)}


class Joint:
    """A joint graph: `forward_outputs` of the call, `gradients`, and the nodes that need tangents."""

    def __init__(self, module: GraphModule, num_outputs: int) -> None:
        self.module = module
        results: Any = module.graph.output_node().args[0]
        self.forward_outputs = list(results[:num_outputs])
        self.gradients = list(results[num_outputs:])
        self.forward = {node for node in module.graph.nodes if BACKWARD not in node.meta}

    # What is kept for backward
    # ------------------------------------------------------------

    def kept_by_default(self) -> list[Node]:
        """What nodes of backward use of the forward graph, through views: the memory behind them."""

        def is_kept(node: Node) -> bool:
            return node in self.forward and not is_tangent(node) and not is_view(node)

        def sources(node: Node) -> list[Node]:
            return [] if is_tangent(node) or is_kept(node) else node.all_input_nodes

        used = reached(nodes_in(self.gradients), sources)
        return sorted(node for node in used if is_kept(node) and node.op != "get_attr")

    # The two graphs
    # ------------------------------------------------------------

    def split(self, kept: list[Node]) -> tuple[GraphModule, GraphModule]:
        """The forward graph, which also returns `kept`, and the backward graph, which begins with these."""
        inputs = self.module.graph.find_nodes(op="placeholder")
        primals = [node for node in inputs if not is_tangent(node)]
        tangents = [node for node in inputs if is_tangent(node)]
        # Sizes of backward follow from all symbols.
        kept = [*kept, *(n for n in primals if isinstance(n.meta["val"], Symbol) and n not in kept)]

        forward = _Extraction(primals)
        results = [*self.forward_outputs, *kept]
        drawn = [node for node in self.forward if is_random(node.target)]
        for node in sorted(reached_from([*nodes_in(results), *drawn])):
            forward.add(node)

        # What is computed again comes directly before its first use.
        backward = _Extraction([*kept, *tangents])
        needed = reached_from(nodes_in(self.gradients), frozenset(kept))
        for node in sorted(needed - self.forward):
            backward.add(node)

        return self._module(forward, results, "forward"), self._module(backward, self.gradients, "backward")

    def _module(self, extraction: _Extraction, outputs: list[Node | None], name: str) -> GraphModule:
        graph = extraction.graph
        graph.output([None if node is None else extraction.add(node) for node in outputs])
        return _LazyGraphModule(self.module, graph, name)


class _Extraction:
    """A new graph that begins with `inputs`, nodes of another one."""

    def __init__(self, inputs: list[Node]) -> None:
        self.graph = Graph()
        self._copies: dict[Node, Node] = {}
        for node in inputs:
            self._copies[node] = self.graph.placeholder(node.name)
            self._copies[node].meta = dict(node.meta)

    def add(self, node: Node) -> Node:
        """Adds a node, and before it what it is computed from; what is there stays as it is."""
        copies = self._copies

        def missing(nodes: Iterable[Node]) -> list[Node]:
            return [one for one in nodes if one not in copies]

        for one in sorted(reached(missing([node]), lambda one: missing(one.all_input_nodes))):
            copies[one] = self.graph.node_copy(one, copies.__getitem__)
        return copies[node]


def reached_from(ends: Iterable[Node], stops: frozenset[Node] = frozenset()) -> set[Node]:
    """The nodes that `ends` are computed from, and themselves; not what `stops` are computed from."""
    return set(reached(ends, lambda node: [] if node in stops else node.all_input_nodes))


def memory_of(node: Node) -> Node:
    """The value whose memory a node reads."""
    while is_view(node):
        node = node.all_input_nodes[0]
    return node


def is_tangent(node: Node) -> bool:
    """Whether a node is an input of the joint graph that stands for the gradient of an output."""
    return node.op == "placeholder" and BACKWARD in node.meta


def is_view(node: Node) -> bool:
    """Whether a node computes nothing: it reads the memory of another, is one of its results, or a size."""
    if node.op != "call_function":
        return False
    if isinstance(node.meta.get("val"), Formula):
        return True
    if node.target is operator.getitem:
        source: Any = node.args[0]
        return is_view(source)
    schema = getattr(node.target, "_schema", None)
    return schema is not None and not schema.is_mutable and aliased_argument(node) is not None


# Which tensors a program may not change between a call and its backward
# ------------------------------------------------------------

# Backward computes some values again that eager mode keeps, and keeps others in tensors of its own. Eager
# mode raises an error if a tensor that it has kept was changed in place, and so does compiled code.

UNUSED = "in_unused_backward"  # a fact of nodes, see `note_unused`


class Kept:
    """What eager mode keeps of a program, as far as callers can change it."""

    def __init__(self, traced: Traced) -> None:
        """To be made before the joint graph is changed."""
        self._joint = Joint(traced.module, traced.num_outputs)
        graph = traced.module.graph
        self._tangents = tangents_of_nodes(graph, filter(is_tangent, graph.nodes))
        self._found: list[tuple[str, Watch]] = []  # with the name of the value that backward may get

        kept = set(self._joint.kept_by_default())
        inputs = graph.find_nodes(op="placeholder")[: len(traced.inputs)]
        changed = {change.value: change for change in traced.changes}
        changed_inputs = {change.input for change in traced.changes}
        for position, node in enumerate(inputs):
            if (node in kept or UNUSED in node.meta) and position not in changed_inputs:
                self._add(node.name, node, True, position, 0)
        for position, node in enumerate(self._joint.forward_outputs):
            for memory in _memories_of(node) if isinstance(node, Node) else ():
                if memory not in kept and UNUSED not in memory.meta:
                    continue
                if position in changed:
                    change = changed[position]
                    self._add("", memory, True, change.input, int(change.is_counted))
                elif memory is memory_of(node):
                    self._add(node.name, memory, False, position, 0)

        # Other sources are new tensors in each call; programs that reshape arguments change them in other
        # ways, too.
        reshaped = {Own(reshaping.argument) for reshaping in traced.reshapings}
        self._whole = {i for i, s in enumerate(traced.inputs) if isinstance(s, Own) and s not in reshaped}

    def _add(self, name: str, node: Node, is_input: bool, position: int, writes: int) -> None:
        self._found.append((name, (is_input, position, writes, self._tangents_that_need(node))))

    def watches(self, backward: GraphModule) -> list[Watch]:
        """What backward does not get by itself, of which versions are checked anyway."""
        given = {node.name for node in backward.graph.find_nodes(op="placeholder")}
        found = [watch for name, watch in self._found if name not in given]
        return [watch for watch in found if not watch[0] or watch[1] in self._whole]

    def _tangents_that_need(self, node: Node) -> list[int]:
        """The tangents that meet a value of the call, or what follows from it alone, in backward."""

        def following(one: Node) -> list[Node]:
            is_view_of_call = one in self._joint.forward and is_view(one)
            without_tangent = one not in self._joint.forward and not self._tangents[one]
            return list(one.users) if one is node or is_view_of_call or without_tangent else []

        users = [one for one in reached([node], following) if one not in self._joint.forward]
        return sorted(set(node.meta.get(UNUSED, ())).union(*(self._tangents[user] for user in users)))


def _memories_of(node: Node) -> Iterator[Node]:
    """The memory of a value, and that of its parts: those are values of their own, which `slice_scatter` and
    the like have put together."""
    memory = memory_of(node)
    yield memory
    while getattr(memory.target, "_opname", "").endswith("_scatter"):
        arguments: Any = memory.args
        yield memory_of(arguments[1])
        memory = memory_of(arguments[0])


def note_unused(graph: Graph) -> None:
    """Records, on each value of the call, the tangents that meet it in parts of backward that no gradient
    needs.

    Derivatives that are always zero have such parts. Eager mode runs them, and they are about to be removed
    from `graph`.
    """
    dead: set[Node] = set()
    for node in reversed(graph.nodes):
        if BACKWARD in node.meta and node.op == "call_function" and dead.issuperset(node.users):
            dead.add(node)
    if not dead:
        return

    tangents = tangents_of_nodes(graph, filter(is_tangent, graph.nodes))
    for node in dead:
        if tangents[node]:
            for value in _values_of_call(node, tangents):
                value.meta[UNUSED] = value.meta.get(UNUSED, frozenset()) | tangents[node]


def _values_of_call(node: Node, tangents: Mapping[Node, frozenset[int]]) -> list[Node]:
    """The memory of the call that a node of backward reads without the help of a tangent."""

    def sources(one: Node) -> Iterator[Node]:
        without_tangent = BACKWARD in one.meta and not tangents[one]
        return map(memory_of, one.all_input_nodes if one is node or without_tangent else ())

    return [source for source in reached([node], sources) if BACKWARD not in source.meta]
