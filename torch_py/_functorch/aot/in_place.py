"""Graphs that change their inputs themselves, and operators that work in place again.

A functional graph returns the new values of the inputs that a program changes (`joint.py`), for the caller
to copy. `put_changes_inside` copies them at the end of the graph. `write_in_place` then lets operators that
functionalisation calls on copies write to the memory itself, where nothing reads the old value afterwards:

    new = foreach_add_on_copies([x], 1)[0]; x.copy_(new)  ->  _foreach_add_([x], 1)
"""

from __future__ import annotations

import operator
from typing import Any

from torch_py._functorch.aot.nodes import Builder, OnCopies, mode_of
from torch_py._functorch.aot.recipes import Change, Own, Traced
from torch_py._functorch.aot.views import Views
from torch_py._ops import ops
from torch_py._shapes.arguments import is_dense
from torch_py.fx._arguments import nodes_in
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

aten: Any = ops.aten


def put_changes_inside(traced: Traced) -> None:
    """Has the graph of a call fill the inputs that the program changes.

    Changes that autograd sees stay outside, those that do not count, and those of arguments that the program
    also reshapes.
    """
    graph = traced.module.graph
    end = graph.output_node()
    inputs = graph.find_nodes(op="placeholder")
    reshaped = [Own(reshaping.argument) for reshaping in traced.reshapings]
    results: Any = end.args[0]
    kept = list(results[: min((change.value for change in traced.changes), default=len(results))])
    outside = []

    with graph.inserting_before(end):
        for change in traced.changes:
            target, value = inputs[change.input], results[change.value]
            if change.is_recorded or not change.is_counted or traced.inputs[change.input] in reshaped:
                outside.append(Change(change.input, len(kept), change.is_recorded, change.is_counted))
                kept.append(value)
            elif value is not target:
                copy = graph.call_function(aten.copy_.default, (target, value))
                facts = [fact for fact in ("val", "sizes", "strides") if fact in target.meta]
                copy.meta.update({fact: target.meta[fact] for fact in facts})

    end.args = ([*kept, *results[traced.num_outputs :]],)
    traced.changes = outside
    traced.num_outputs = len(kept)
    traced.module.recompile()


def write_in_place(module: GraphModule) -> None:
    """Replaces calls on copies by calls in place where the graph does not need the old values."""
    if any(isinstance(node.target, OnCopies) for node in module.graph.nodes):
        _Rewriting(module).run()
        module.recompile()


class _Rewriting:
    def __init__(self, module: GraphModule) -> None:
        self.graph = module.graph
        self.builder = Builder(self.graph, mode_of([node.meta.get("val") for node in self.graph.nodes]))
        self.end = self.graph.output_node()
        self.views = Views()

        # For each piece of memory, the nodes that read it.
        self.aliases: dict[Node, list[Node]] = {}
        for node in self.graph.nodes:
            self.aliases.setdefault(self.views.of(node).root, []).append(node)
        # The inputs that the graph fills at its end.
        copies = self.graph.find_nodes(op="call_function", target=aten.copy_.default)
        self.filled = {copy.args[0]: copy for copy in copies}

    def run(self) -> None:
        for node in list(self.graph.nodes):
            if isinstance(node.target, OnCopies):
                self._rewrite(node, node.target)
        for target, copy in self.filled.items():
            if copy.args[1] is target:
                self.graph.erase_node(copy)

    def _rewrite(self, node: Node, form: OnCopies) -> None:
        elements = {user.args[1]: user for user in node.users}
        if any(user.target is not operator.getitem for user in node.users):
            return
        written = form.written(node.args, node.kwargs)
        first = len(form.results())
        new_values = [elements.get(first + i) for i in range(len(written))]
        is_free = [self._is_free(old, new, node) for old, new in zip(written, new_values)]
        if not any(is_free):
            return

        self.builder.context = {name: fact for name, fact in node.meta.items() if name != "val"}
        with self.graph.inserting_before(node):
            pairs, copied = zip(written, is_free), aten.clone.default
            targets = [old if free else self.builder.call(copied, old) for old, free in pairs]
            args, kwargs = form.with_written(node.args, node.kwargs, targets)
            call = self.builder.call(form.operator, *args, **kwargs)
            is_one = len(form.operator._schema.returns) == 1
            results = [call if is_one else self.builder.element(call, i) for i in form.results()]

        for new, target in zip(new_values, targets):
            if new is not None:
                self._replace(new, target)
        for position, result in enumerate(results):
            if position in elements:
                self._replace(elements[position], result)
        self.graph.erase_node(node)

    def _replace(self, old: Node, new: Node) -> None:
        old.replace_all_uses_with(new)
        self.graph.erase_node(old)
        root = self.views.of(new).root
        aliases = [alias for alias in self.aliases.pop(old, []) if alias is not old]
        self.aliases.setdefault(root, []).extend(aliases)

    def _is_free(self, old: Node, new: Node | None, node: Node) -> bool:
        """Whether `node` may write the new value to the memory of the old one."""
        if self.views.of(old).root is not old or not is_dense(old.meta["val"]):
            return False
        if old.op != "call_function" and old not in self.filled:
            return False
        reads = [argument for argument in nodes_in((node.args, node.kwargs)) if argument in self.aliases[old]]
        if len(reads) != 1:
            return False

        fill = self.filled.get(old)
        later = [user for alias in self.aliases[old] for user in alias.users if user > node]
        if any(user is not fill for user in later) or (fill is not None and fill.args[1] is old):
            return False
        # An input is not returned, whatever its value.
        is_returned = new is not None and any(self.end in alias.users for alias in self.aliases[new])
        return old.op == "call_function" or not is_returned
