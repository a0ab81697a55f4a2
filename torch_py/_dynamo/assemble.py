"""Makes a function of a finished capture: a guard program, a graph module, and Python around it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.effects import Draws, acts, changed_inputs, unnoticed_effect, versions
from torch_py._dynamo.failures import left_by_graph
from torch_py._dynamo.nested import has_tensors
from torch_py._dynamo.rebuild import Rebuild
from torch_py._dynamo.resume import Failed
from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx._source import function_from
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._thread_state import ThreadState


class Assembly(Fields):
    """The text of a compiled function in the making, or of a continuation (`is_resumed`).

    `before` and `after` are the states of the thread.
    """

    capture: Capture
    name: str
    rebuild: Rebuild
    before: ThreadState
    after: ThreadState
    is_resumed: bool
    graph_module: GraphModule | None = None
    eagerly: Callable[..., Any] | None = None  # what to call if the graph raises an exception
    _before_graph: list[str] = []
    _before_again: str = ""  # statements before the function runs again
    _assumptions: list[str] = []
    _state: list[str] = []
    tail: list[str] = []

    def assumptions(self, assumed: list[tuple[Any, bool]], again: Callable[..., Any]) -> None:
        """Statements that call `again` instead of going on if a tensor has another truth than the program
        asserts."""
        for tensor, truth in assumed:
            name = self.rebuild.constant(again, "again")
            test = f"not {self.rebuild.value(tensor)}" if truth else self.rebuild.value(tensor)
            call = f"return {name}({', '.join(self.rebuild.parameters)})"
            self._assumptions.append(f"if {test}: {self._before_again}{call}")

    def take_back_draws(self) -> None:
        """Statements for a function that may begin anew after the graph has run, or has run in part."""
        if not self.capture.fake_mode.generators:
            return
        draws = Draws(self.capture.fake_mode.generators)
        states = self.rebuild.name("states")
        take_back = self.rebuild.constant(draws.take_back, "take_back")
        self._before_graph = [f"{states} = {self.rebuild.constant(draws.states, 'draws')}()"]
        self._before_again = f"{take_back}({states}); "

    def state(self) -> None:
        """Statements for the switches of the thread that the program has left changed."""
        for function, args in self.after.changes_from(self.before):
            name = self.rebuild.constant(function, function.__name__)
            self._state.append(f"{name}({', '.join(map(self.rebuild.value, args))})")

    # The graph

    def make_graph(self) -> None:
        """The graph module with what is needed of it as outputs; None if nothing has to be computed."""
        recorder = self.capture.recorder
        graph = recorder.graph
        graph.output(tuple(self.rebuild.outputs))
        _drop_unused(graph)
        if all(node.op in ("placeholder", "output") or "sets_state" in node.meta for node in graph.nodes):
            return  # code around the graph sets the state of the thread
        module = _LazyGraphModule({}, graph)
        module.meta["fake_mode"] = recorder.fake_mode
        if recorder.varying.places:
            module.meta["sizes"] = recorder.varying.sizes
        self.graph_module = module

    def inputs(self) -> list[Any]:
        """The inputs that the graph has kept."""
        recorder = self.capture.recorder
        by_node = {made.node: made for made in recorder.all_inputs()}
        return [by_node[node] for node in recorder.graph.find_nodes(op="placeholder")]

    # The function

    def source(self) -> str:
        made = self.rebuild
        call = self._graph_call()  # reads its inputs
        body = [*made.reads, *self._before_graph, *call, *self._assumptions, *self._state]
        body += [*made.builds, *made.writes, *made.positions, *self.tail]
        parameters = ", ".join(self.rebuild.parameters)
        return f"def {self.name}({parameters}):\n" + "".join(f"    {line}\n" for line in body)

    def _graph_call(self) -> list[str]:
        if self.graph_module is None:
            return []
        given = ", ".join(self.rebuild.source(made.source) for made in self.inputs())
        names = list(self.rebuild.outputs.values())
        results = f"{', '.join(names)}{',' if len(names) == 1 else ''} = " if names else ""
        call = f"{results}graph({given})"
        error = self.rebuild.name("error")
        if self.eagerly is None or unnoticed_effect(self.capture.recorder):
            return [f"try: {call}", f"except BaseException as {error}: {self._leave(error)}"]

        eagerly, failure = self.rebuild.constant(self.eagerly, "eagerly"), self.rebuild.name("failure")
        lines = [f"{failure} = None", f"try: {call}", f"except Exception as {error}:"]
        changed = [self.rebuild.source(made.source) for made in changed_inputs(self.capture.recorder)]
        if changed:  # where the graph has changed tensors from outside, its exception leaves the function
            before = self.rebuild.name("versions")
            now = f"{self.rebuild.constant(versions, 'versions_of')}({', '.join(changed)})"
            lines = [f"{before} = {now}", *lines, f"    if {now} != {before}: {self._leave(error)}"]

        arguments = ", ".join([failure, *self.rebuild.parameters])
        again = f"if {failure} is not None: {self._before_again}return {eagerly}({arguments})"
        return [*lines, f"    {failure} = {error}", again]

    def _leave(self, error: str) -> str:
        """The exception of a graph leaves all blocks of the program, some of which the graph may be in."""
        if self.is_resumed:
            return f"return {self.rebuild.constant(Failed, 'Failed')}({error})"
        return f"{self.rebuild.constant(left_by_graph(self.before), 'leave_blocks')}(); raise"

    def function(self, compiled_graph: Any) -> Any:
        text = self.source()
        namespace = {**self.rebuild.constants, "graph": compiled_graph}
        made = function_from(self.name, text, namespace, f"<compiled {self.name}>")
        made.source = text
        return made


def _drop_unused(graph: Any) -> None:
    """Erases unused inputs, parts of results, and numbers.

    Calls stay: those that fail with these dtypes or values must fail, and backends drop results
    that nobody uses.
    """
    for node in reversed(list(graph.nodes)):
        is_call = acts(node) or _computes(node) or "sets_state" in node.meta
        if not node.users and (node.op == "placeholder" or not (is_call or node.op == "output")):
            graph.erase_node(node)


def _computes(node: Node) -> bool:
    """Whether a call makes tensors, other than by choosing one of several results."""
    if node.target is operator.getitem and not isinstance(node.args[0].meta.get("example_value"), Tensor):  # type: ignore[union-attr]
        return False
    return has_tensors(node.meta.get("example_value"))
