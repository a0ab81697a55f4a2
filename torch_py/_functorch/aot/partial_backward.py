"""Backward of a graph for some of its results: those whose gradients arrive.

A backward graph is for the gradients of all results. With zeros in place of those that do not arrive it would
compute what eager mode leaves out, and nan where a derivative is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from torch_py import _C, _compiling
from torch_py._functorch.aot.joint import remove_dead_nodes
from torch_py._functorch.aot.nodes import Builder, input_values, mode_of
from torch_py._functorch.aot.recipes import BACKWARD, TANGENTS
from torch_py._ops import ops
from torch_py._records import Fields
from torch_py._shapes.arguments import NotFollowed, reach
from torch_py._shapes.formulas import Formula, Symbol
from torch_py._thread_state import without_autocast
from torch_py.autograd.grad_mode import inference_mode, no_grad
from torch_py.fx._collecting import without_garbage_collection
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.utils._python_dispatch import _disable_current_modes

_MOST_GRAPHS = 8  # of one backward


class PartialBackward(Fields):
    """Compiles backward anew for the first pass with each set of tangents.

    The graph is that of `load`, which is called once, if at all. Its last `num_tangents` inputs are the
    tangents.
    """

    load: Callable[[], GraphModule]
    num_tangents: int
    compile: Callable[[GraphModule, list[Any]], Any]
    _compiled: dict[Sequence[int], Any] = {}

    @cached_property
    def module(self) -> GraphModule:
        """The module of the graph for all tangents."""
        return self.load()

    def __call__(self, arrived: Sequence[int]) -> Any:
        """What runs if the tangents with these numbers arrive; its arguments are the saved values and these.

        None if backward is to run with zeros: after many other sets, or if sizes vary in a way that the graph
        cannot follow.
        """
        with _compiling.lock:
            if arrived not in self._compiled and len(self._compiled) < _MOST_GRAPHS:
                self._compiled[arrived] = self._compile_for(arrived)
            return self._compiled.get(arrived)

    def _compile_for(self, arrived: Sequence[int]) -> Any:
        # This happens in the middle of a program.
        with _disable_current_modes(), _C.DisableTorchFunction(), without_autocast(), inference_mode(False):
            with no_grad(), without_garbage_collection():
                inputs = self.module.graph.find_nodes(op="placeholder")
                tangents = inputs[len(inputs) - self.num_tangents :]
                arrives = {node: number in arrived for number, node in enumerate(tangents)}
                try:
                    part = _Reduction(self.module, arrives).run()
                    return self.compile(part, input_values(part.graph))
                except NotFollowed:
                    return None


class _Reduction:
    """Copies what eager mode runs of a backward graph if some tangents do not arrive; `tangents` are the
    inputs for them, and whether they do.

    That is each step of autograd that one of the tangents reaches, with zeros for gradients that it lacks. A
    derivative need not use its gradient, nor be zero for one of zeros. Between steps autograd adds gradients,
    those that are there.
    """

    def __init__(self, module: GraphModule, tangents: dict[Node, bool]) -> None:
        self.module = module
        self.graph = Graph()
        self.arrived = {number for number, arrives in enumerate(tangents.values()) if arrives}
        # Of each node; None for one that does not run.
        self.copies: dict[Node, Any] = dict.fromkeys(n for n, arrives in tangents.items() if not arrives)
        self._builder = Builder(self.graph, mode_of(input_values(module.graph)))
        self._gradients = set(tangents)  # and what follows from them, or is made in backward

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

        gradients = [source for source in node.all_input_nodes if source in self._gradients]
        if BACKWARD in node.meta or gradients:
            self._gradients.add(node)
        present = [source for source in gradients if self.copies[source] is not None]
        if TANGENTS in node.meta:
            if self.arrived.isdisjoint(node.meta[TANGENTS]):
                return None
        elif len(present) < len(gradients):
            if not present:
                return None
            if _is_sum(node) and _is_alike(present[0], node):
                return self.copies[present[0]]
        return self.graph.node_copy(node, lambda source: self.copies[source] or self._zeros(source))

    def _zeros(self, node: Node) -> Node:
        """Zeros with the strides of the value of a node."""
        value = node.meta["val"]
        options = {"dtype": value.dtype, "device": value.device}
        zeros: Any = ops.aten.zeros.default

        if value.is_contiguous():
            sizes = [self._size(size) for size in node.meta.get("sizes", value.shape)]
            made = self.graph.call_function(zeros, (sizes,), options, name="zeros")
            with self._builder.fake_mode:
                made.meta["val"] = zeros(value.shape, **options)
        elif "sizes" in node.meta:
            raise NotFollowed("zeros with gaps whose sizes vary")
        else:
            memory = self._builder.call(zeros, [reach(value.shape, value.stride())], **options)
            made = self._builder.call(ops.aten.as_strided.default, memory, value.shape, value.stride())
        made.meta = {**node.meta, **made.meta}
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
    one, two = ((v.shape, v.stride(), v.dtype, v.device) for v in (node.meta["val"], other.meta["val"]))
    return bool(one == two)
