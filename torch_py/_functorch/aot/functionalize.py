"""Graphs without changes in place: every node computes a value, and none changes the memory of another.

An operator in place becomes its functional form. What it has written to has a new value from there on, and
so has all memory that it is a view of: the write goes back along the views (inverse_views.py), and nodes that
read the memory later take their views anew from the new value.
"""

from __future__ import annotations

import operator
from typing import Any

from torch_py._functorch.aot.inverse_views import has_inverse, written_back, written_by_strides
from torch_py._functorch.aot.nodes import Builder, functional_form, is_random, on_copies
from torch_py._functorch.aot.recipes import METADATA, NO_GRAD, Step, Unsupported
from torch_py._functorch.aot.views import View, Views, bound, is_identity, is_write, place_in, resizes
from torch_py._ops import ops
from torch_py._records import Fields
from torch_py._shapes.arguments import is_dense, repeats_elements
from torch_py._subclasses.fake_tensor import FakeTensorMode
from torch_py._tensor import Tensor
from torch_py.fx._arguments import nodes_in
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node, map_arg

aten: Any = ops.aten


# Facts of a node that those do not share which take its place.
_OWN_FACTS = ("val", NO_GRAD, METADATA)


class Memory(Fields):
    """What a piece of memory contains at some point of the program: the value of its `root`, and of views."""

    root: Node
    value: Node
    version: int = 0
    views: dict[tuple[Step, ...], Node] = {}

    def write(self, value: Node) -> None:
        self.value = value
        self.version += 1
        self.views = {}


class Functionalized:
    """The functional graph, without its output, and the values at the end of the program.

    `inputs` has an input for each of the old graph, and `latest` the values of nodes of the old graph.
    """

    def __init__(self, old: Graph, fake_mode: FakeTensorMode, views: Views) -> None:
        self.graph = Graph()
        self.views = views
        self._builder = Builder(self.graph, fake_mode)
        self._memories: dict[Node, Memory] = {}
        self._values: dict[Node, tuple[Node, int]] = {}  # with the version of the memory that they belong to
        self.inputs = {node: self.graph.node_copy(node) for node in old.find_nodes(op="placeholder")}
        for node in sorted(self.inputs, key=lambda node: views.of(node).root is not node):
            self._keep(node, self.inputs[node])
        for node in old.nodes:
            if node.op not in ("placeholder", "output"):
                self._run(node)

    # The program, node by node
    # ------------------------------------------------------------

    def _run(self, node: Node) -> None:
        self._continue(node)
        view = self.views.of(node)
        if is_write(node):
            self._write(node)
        elif is_identity(node.target):
            self._values[node] = self.latest(node.args[0]), self._memory(node).version  # type: ignore[arg-type]
        elif view.steps and self._memory(node).version:
            self._keep(node, self._viewed(view))
        elif node.target is not operator.getitem:
            self._keep(node, self.graph.node_copy(node, self.latest))
        elif view.steps or view.root is node:  # not an argument that the operator has written to and returns
            self._keep(node, self.graph.node_copy(node, lambda several: self._values[several][0]))

    def _continue(self, node: Node) -> None:
        """New nodes are part of the step of the program, or of backward, that a node is part of."""
        facts = {} if node.op == "placeholder" else node.meta
        self._builder.context = {name: fact for name, fact in facts.items() if name not in _OWN_FACTS}

    def _keep(self, node: Node, value: Node) -> None:
        view = self.views.of(node)
        if view.root is node:
            self._memories[node] = Memory(node, value)
        self._values[node] = value, self._memory(node).version

    # Reading
    # ------------------------------------------------------------

    def latest(self, node: Node) -> Node:
        """The value that a node of the old graph has now."""
        memory = self._memory(node)
        known = self._values.get(node)
        if known is not None and known[1] == memory.version:
            return known[0]

        value = self._viewed(self.views.of(node))
        self._values[node] = value, memory.version
        return value

    def _memory(self, node: Node) -> Memory:
        return self._memories[self.views.of(node).root]

    def _viewed(self, view: View) -> Node:
        return self._along(self._memories[view.root], view.essential)[-1]

    def _along(self, memory: Memory, steps: tuple[Step, ...]) -> list[Node]:
        """The values of the root and of each view of a chain."""
        values = [memory.value]
        # What `as_strided` is called on needs the layout of the memory: a value that was written has its own.
        if any(step.target._opname == "as_strided" for step in steps[1:]):
            memory.views = {}
        for count in range(1, len(steps) + 1):
            chain = steps[:count]
            if chain not in memory.views:
                memory.views[chain] = self._step(memory, steps[count - 1], values[-1])
            values.append(memory.views[chain])
        return values

    def _step(self, memory: Memory, step: Step, value: Node) -> Node:
        args = step.args
        if step.target._opname == "as_strided":
            args = _on_value(memory.root, value, step)
        kwargs = {} if args is not step.args else step.kwargs
        node = self._builder.call(step.target, value, *args, **kwargs)
        return node if step.index is None else self._builder.element(node, step.index)

    # Writing
    # ------------------------------------------------------------

    def _write(self, node: Node) -> None:
        """Runs an operator that changes arguments."""
        flat = written_nodes(node)
        if any(self._writes_twice(node, target) for target in flat):
            raise Unsupported(f"{node.target} changes an expanded tensor, with several elements in one place")
        for target in flat:
            if _reaches_between_parts(self.views.of(target), target.meta["val"].dtype):
                raise Unsupported(f"{node.target} changes parts of complex numbers, which as_strided takes")
            if resizes(node, target):
                self._check_resizable(node, target)
            if is_random(node.target):
                self._check_strides(node, target)
        args, kwargs = map_arg((node.args, node.kwargs), self.latest)

        new = self._functional(node, flat, args, kwargs) or self._called_on_copies(node, flat, args, kwargs)
        for target, value in zip(flat, new):
            if resizes(node, target):
                self._keep(node, value)
            else:
                self._assign(target, value)

    def _writes_twice(self, node: Node, target: Node) -> bool:
        """Whether what is written to one element shows in others; those of an argument cannot be assigned."""
        root = self.views.of(target).root
        if root.op == "placeholder" and repeats_elements(root.meta["val"]):
            return True
        return not _is_uniform(node) and repeats_elements(target.meta["val"])

    def _check_strides(self, node: Node, target: Node) -> None:
        """Raises Unsupported if the value that stands for a tensor has other strides: other numbers
        would be drawn."""
        if self.latest(target).meta["val"].stride() != target.meta["val"].stride():
            why = "draws numbers for a changed tensor with gaps between its elements"
            raise Unsupported(f"{node.target} {why}")

    def _check_resizable(self, node: Node, target: Node) -> None:
        """Raises Unsupported if the memory belongs to an argument, or if other tensors read it."""
        if self.views.of(target).root.op == "placeholder":
            raise Unsupported(f"{node.target} gives an argument of the program another size or other memory")
        if self.views.are_shared(target):
            raise Unsupported(f"{node.target} gives a tensor another size whose memory others read")

    def _functional(self, node: Node, written: list[Node], args: Any, kwargs: Any) -> list[Node] | None:
        """The new values by an operator that computes them; None if the operator has no such form."""
        if node.target is aten.copy_.default:
            return [self._copied(written[0], args[1])]
        if node.target is aten.zero_.default:
            return [self._builder.call(aten.fill.Scalar, args[0], 0)]

        form = functional_form(node.target)
        if form is None or not written:
            return None
        outs = {argument.name for argument in node.target._schema.arguments if argument.is_out}
        kept = {name: value for name, value in kwargs.items() if name not in outs}
        result = self._builder.call(form, *args, **kept)
        several = isinstance(result.meta["val"], (list, tuple))
        values = [self._builder.element(result, i) for i in range(len(written))] if several else [result]
        return [self._cast(target, value) for target, value in zip(written, values)]

    def _copied(self, target: Node, source: Node) -> Node:
        """A value for `target` that is a copy of `source`."""
        like = target.meta["val"]
        if source.meta["val"].shape != like.shape:
            source = self._builder.call(aten.expand.default, source, list(like.shape))
        cast = self._cast(target, source)
        return self._builder.call(aten.clone.default, source) if cast is source else cast

    def _cast(self, target: Node, value: Node) -> Node:
        like = target.meta["val"]
        if (value.meta["val"].dtype, value.meta["val"].device) == (like.dtype, like.device):
            return value
        return self._builder.call(aten._to_copy.default, value, dtype=like.dtype, device=like.device)

    def _called_on_copies(self, node: Node, written: list[Node], args: Any, kwargs: Any) -> list[Node]:
        form = on_copies(node.target)
        several = self._builder.call(form, *args, **kwargs)
        first = len(form.results())
        if first == 1 and len(node.target._schema.returns) == 1:
            self._keep(node, self._builder.element(several, 0))
        elif first:
            self._keep(node, several)
        return [self._builder.element(several, first + i) for i in range(len(written))]

    def _assign(self, target: Node, value: Node) -> None:
        """From here on, what `target` reads has the value `value`."""
        steps = self.views.of(target).essential
        memory = self._memory(target)
        value = self._builder.with_strides_of(value, target.meta["val"])

        chain = {steps: value}
        values = self._along(memory, steps)
        count = len(steps)
        without = [i for i, step in enumerate(steps) if not has_inverse(step)]
        if without:
            count = _of_same_dtype(values, steps[: without[0]], target)
            like, base = target.meta["val"], values[count]
            distance = (_start(target) - _start(memory.root)) // like.itemsize
            offset = distance + base.meta["val"].storage_offset()
            value = written_by_strides(self._builder, base, value, like, offset)
            chain[steps[:count]] = value
        for position in range(count - 1, -1, -1):
            value = written_back(self._builder, steps[position], values[position], value)
            chain[steps[:position]] = value

        memory.write(value)
        memory.views = {steps: node for steps, node in chain.items() if steps}

    # Results
    # ------------------------------------------------------------

    def last(self, node: Node) -> Node:
        """The value that a node of the old graph has after the program."""
        self._continue(node)
        return self.latest(node)

    def result(self, node: Node) -> Node:
        """The same, with its strides: what was written to a view with gaps has none until the view is taken
        again."""
        value = self.last(node)
        if value.meta["val"].stride() == node.meta["val"].stride():
            return value
        self._memory(node).views = {}
        return self._viewed(self.views.of(node))

    def separate(self, node: Node) -> Node:
        """The same value in memory that no input and no constant has."""
        view = Views().of(node)
        if view.root.op not in ("placeholder", "get_attr"):
            return node

        self._builder.context = {}
        if is_dense(node.meta["val"]) or not is_dense(view.root.meta["val"]):
            return self._builder.call(aten.clone.default, node)
        # A copy of the view, of an expanded constant for example, would have other strides.
        copy = self._builder.call(aten.clone.default, view.root)
        return self._along(Memory(view.root, copy), view.essential)[-1]

    def is_changed(self, node: Node) -> bool:
        """Whether memory that a node of the old graph reads was written to."""
        return self._memory(node).version > 0


def _on_value(root: Node, value: Node, step: Step) -> tuple[Any, ...]:
    """The arguments of `as_strided` for a value in place of `root`, which starts elsewhere in its memory."""
    size, stride, offset = place_in(step)
    moved = (_start(value) - _start(root)) // value.meta["val"].itemsize
    return size, stride, None if offset is None else offset + moved


def _start(node: Node) -> int:
    """Where a tensor begins in its memory, in bytes."""
    return int(node.meta["val"].storage_offset() * node.meta["val"].itemsize)


def _of_same_dtype(values: list[Node], steps: tuple[Step, ...], target: Node) -> int:
    """The position of the value that begins where the memory does and has the dtype of `target`."""
    dtype = target.meta["val"].dtype
    for position, value in enumerate(values[: len(steps) + 1]):
        if value.meta["val"].dtype == dtype:
            return position
        if position == len(steps) or not steps[position].retypes:
            break
    raise Unsupported(f"a view of dtype {dtype} is changed in place whose memory has another dtype")


def _is_uniform(node: Node) -> bool:
    """Whether an operator writes the same to all elements, as `fill_` does: no other tensor has several."""
    others = nodes_in([value for argument, value in bound(node) if not argument.is_write])
    return all(other.meta["val"].dim() == 0 for other in others if isinstance(other.meta["val"], Tensor))


def written_nodes(node: Node) -> list[Node]:
    """What an operator changes."""
    if not is_write(node):
        return []
    return nodes_in([value for argument, value in bound(node) if argument.is_write])


def _reaches_between_parts(view: View, dtype: Any) -> bool:
    """Whether `as_strided` is called on the real or the imaginary parts of complex numbers."""
    is_strided = any(step.target._opname == "as_strided" for step in view.essential[1:])
    return is_strided and view.root.meta["val"].dtype.is_complex and not dtype.is_complex
