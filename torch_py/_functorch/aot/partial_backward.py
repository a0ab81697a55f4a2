"""Backward of a graph for some of its results: those whose gradients arrive.

A backward graph is for the gradients of all results. With zeros in place of those that do not arrive it would
compute what eager mode leaves out, and nan where a derivative is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.aot.building import Builder
from torch_py._functorch.aot.joint import remove_dead_nodes
from torch_py._functorch.aot.runtime.training import tangents_of_nodes
from torch_py._guards import detect_fake_mode
from torch_py._ops import ops
from torch_py._shapes.arguments import NotFollowed
from torch_py._shapes.formulas import Formula, Symbol
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._thread_state import without_autocast
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.grad_mode import inference_mode, no_grad
from torch_py.fx._collecting import without_garbage_collection
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.utils._python_dispatch import _disable_current_modes

_MOST_GRAPHS = 8  # of one backward


class PartialBackward:
    """Compiles backward anew for the first pass with each set of tangents.

    The graph is that of `load`, which is called once, if at all. Its last `num_tangents` inputs are the
    tangents.
    """

    def __init__(
        self,
        load: Callable[[], GraphModule],
        num_tangents: int,
        compile: Callable[[GraphModule, list[Any]], Any],
    ) -> None:
        self._load = load
        self._num_tangents = num_tangents
        self._compile = compile
        self._module: GraphModule | None = None
        self._left = _MOST_GRAPHS

    @property
    def module(self) -> GraphModule:
        """The module of the graph for all tangents."""
        if self._module is None:
            self._module = self._load()
        return self._module

    def __call__(self, arrived: Collection[int]) -> Any:
        """What runs if the tangents with these numbers arrive; its arguments are the saved values and these.

        None if backward is to run with zeros: after many other sets, or if the graph needs zeros whose sizes
        are computed from sizes that vary.
        """
        if self._left == 0:
            return None
        self._left -= 1

        # This happens in the middle of a program.
        with (
            _disable_current_modes(),
            _C.DisableTorchFunction(),
            DisableTorchFunctionSubclass(),
            without_autocast(),
            inference_mode(False),
            no_grad(),
            without_garbage_collection(),
        ):
            inputs = self.module.graph.find_nodes(op="placeholder")
            tangents = inputs[len(inputs) - self._num_tangents :]
            missing = [node for number, node in enumerate(tangents) if number not in arrived]
            try:
                part = without_tangents(self.module, tangents, missing)
            except NotFollowed:
                return None
            return self._compile(part, [node.meta["val"] for node in part.graph.find_nodes(op="placeholder")])


def without_tangents(module: GraphModule, tangents: Sequence[Node], missing: Sequence[Node]) -> GraphModule:
    """A copy of a backward graph, without those of its tangents that are `missing`, and without what is
    computed from these alone."""
    return _Reduction(module, tangents, missing).run()


class _Reduction:
    """A node has no copy if all tangents that it is computed from are missing."""

    def __init__(self, module: GraphModule, tangents: Sequence[Node], missing: Sequence[Node]) -> None:
        self.module = module
        self.graph = Graph()
        self.copies: dict[Node, Node | None] = dict.fromkeys(missing)

        values = [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")]
        self._builder = Builder(self.graph, detect_fake_mode(values) or FakeTensorMode())
        self._tangents = tangents_of_nodes(module.graph, tangents)

    def run(self) -> GraphModule:
        for node in self.module.graph.nodes:
            if node not in self.copies:
                self.copies[node] = self._copy(node)
        remove_dead_nodes(self.graph)
        return _LazyGraphModule(self.module, self.graph, "backward")

    def _copy(self, node: Node) -> Node | None:
        if node.op == "output":
            results: Any = node.args[0]
            return self.graph.output([None if result is None else self.copies[result] for result in results])

        gradients = [source for source in node.all_input_nodes if self._tangents[source]]
        there = [source for source in gradients if self.copies[source] is not None]
        if gradients and not there:
            return None
        if len(there) < len(gradients) and _is_sum(node) and _is_alike(there[0], node):
            return self.copies[there[0]]
        return self.graph.node_copy(node, self._copy_or_zeros)

    def _copy_or_zeros(self, node: Node) -> Node:
        copy = self.copies[node]
        return self._zeros(node) if copy is None else copy

    def _zeros(self, node: Node) -> Node:
        """Zeros that lie in memory as the value of a node does."""
        value = node.meta["val"]
        options = {"dtype": value.dtype, "device": value.device}
        zeros = ops.aten.zeros.default
        if value.is_contiguous():
            sizes = [self._size(size) for size in node.meta.get("sizes", value.shape)]
            made = self.graph.call_function(zeros, (sizes,), options, name="zeros")
        elif "sizes" in node.meta:
            raise NotFollowed("zeros with gaps whose sizes vary")
        else:
            reach = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))
            memory = self._builder.call(zeros, [reach if value.numel() else 0], **options)
            made = self._builder.call(ops.aten.as_strided.default, memory, value.shape, value.stride())
        made.meta = dict(node.meta)
        return made

    def _size(self, size: Any) -> Any:
        if not isinstance(size, (Symbol, Formula)):
            return size
        for node, copy in self.copies.items():
            if node.op == "placeholder" and node.meta["val"] is size:
                return copy
        raise NotFollowed(f"zeros of size {size}")


def _is_sum(node: Node) -> bool:
    return node.target is ops.aten.add.Tensor and len(node.args) == 2 and not node.kwargs


def _is_alike(node: Node, other: Node) -> bool:
    """Whether two values have one shape, dtype and layout in memory."""
    one, two = node.meta["val"], other.meta["val"]
    return all(getattr(one, fact) == getattr(two, fact) for fact in ("shape", "dtype", "device")) and (
        one.stride() == two.stride()
    )
