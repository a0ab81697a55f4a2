"""Makes a function of a finished capture: a graph module, and Python around it.

`Rebuild` writes that Python: what to read before the call of the graph, the objects to make, the writes.
`Assembly` puts it together."""

from __future__ import annotations

import builtins
import collections
import math
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.capture_mode import Draws, acts, changed_inputs, unnoticed_effect, versions
from torch_py._dynamo.exc import Break
from torch_py._dynamo.failures import left_by_graph
from torch_py._dynamo.frame import Pending
from torch_py._dynamo.journal import ABSENT, Entry, Snapshot, replace_contents
from torch_py._dynamo.makers import MAKERS, MAKERS_BY_TEST, cannot_rebuild
from torch_py._dynamo.resume import Failed
from torch_py._dynamo.sources import Source
from torch_py._dynamo.varying_arguments import has_tensors
from torch_py._records import Fields
from torch_py._shapes.numbers import VARYING, Held
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx._names import Namespace
from torch_py.fx._source import function_from
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.varying import Place
    from torch_py._thread_state import ThreadState


_RESERVED = frozenset({"graph", "math", *dir(builtins)})  # names that generated code reads
_LITERALS = (int, str, bytes, bool, type(None))
# Objects that must not be made again if they existed before.
_MUTABLE = (list, dict, set, bytearray, collections.deque, BaseException)


class Rebuild:
    """Writes expressions for the objects of a capture, and the statements that must come before them."""

    def __init__(self, capture: Capture, name: str, parameters: list[str]) -> None:
        self.capture = capture
        self.constants: dict[str, Any] = {}

        self.reads: list[str] = []
        self.builds: list[str] = []
        self.writes: list[str] = []
        self.positions: list[str] = []  # of iterators, set after the writes
        self.outputs: dict[Node, str] = {}

        self._constant_names: dict[int, str] = {}
        self._names = Namespace({name, *parameters, *_RESERVED})
        self.parameters = [self.name(one) if one in _RESERVED else one for one in parameters]
        self._read_names: dict[str, str] = {}
        self._made: dict[int, str] = {}
        self._open: set[int] = set()
        self._kept: list[Any] = []

    # Names

    def name(self, wish: str) -> str:
        return self._names.create_name(re.sub(r"\W+", "_", wish).strip("_") or "value", None)

    def constant(self, value: Any, wish: str = "constant") -> str:
        known = self._constant_names.get(id(value))
        if known is None:
            known = self._constant_names[id(value)] = self.name(wish)
            self.constants[known] = value
        return known

    # Sources

    def source(self, source: Source) -> str:
        """The value of a source, read before the graph runs."""
        if source.kind == "argument":
            return self.parameters[source.key]
        wish = source.as_name()[-40:] or "constant"
        if source.kind == "constant":
            return self.constant(source.key, wish)
        return self._read(self._access(source), wish)

    def _read(self, text: str, wish: str) -> str:
        """The name of what an expression gives before the graph runs."""
        known = self._read_names.get(text)
        if known is None:
            known = self._read_names[text] = self.name(wish)
            self.reads.append(f"{known} = {text}")
        return known

    def _access(self, source: Source) -> str:
        if source.kind in ("call", "lookup"):
            return f"{self.constant(source.key, 'call')}()"
        assert source.base is not None
        base = self.source(source.base)
        if source.kind == "attr":
            return f"{base}.{source.key}"
        if source.kind == "cell":
            return f"{base}.cell_contents"
        key = self.value(source.key)
        if source.reader is not None:
            return f"{self.constant(source.reader, 'get_item')}({base}, {key})"
        return f"{base}[{key}]"

    def _place(self, place: Place) -> str:
        """A number that varies, read before the graph runs, which may give a tensor other sizes."""
        source = self.source(place.made.source)
        return self._read(f"{source}.size({place.dim})", "size") if place.is_size else source

    # Values

    def value(self, value: Any) -> str:
        """An expression for a value."""
        kind = type(value)
        if kind in _LITERALS:
            return repr(value)
        if kind is float and value == value and abs(value) != float("inf"):
            return repr(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if kind is Pending or kind is Held:
            return self.source(value.source)
        if kind in VARYING:
            return self.capture.varying.text_of(value.term, self._place)  # type: ignore[union-attr]

        known = self._made.get(id(value))
        if known is not None:
            return known
        origin = self.capture.origin_of(value)
        return self._new_object(value, kind) if origin is None else self.source(origin)

    def _tensor(self, value: Tensor) -> str:
        recorder = self.capture.recorder
        known = recorder.input_of(value) if isinstance(value, FakeTensor) else recorder.inputs.get(id(value))
        if known is not None:
            return self.source(known.source)
        node = recorder.node_of(value)
        if node not in self.outputs:
            self.outputs[node] = self.name(node.name)
        return self.outputs[node]

    def _new_object(self, value: Any, kind: type) -> str:
        maker = MAKERS.get(kind)
        if maker is None:
            maker = next((make for test, make in MAKERS_BY_TEST if test(value, kind)), None)
        if maker is None:
            raise cannot_rebuild(value)

        if isinstance(value, _MUTABLE) and not self.capture.is_new(value):
            why = "it is not known whether it existed before, or was made by native code"
            raise cannot_rebuild(value, why)
        if id(value) in self._open:
            return self._announce(value, kind)
        self._open.add(id(value))
        self._kept.append(value)
        try:
            return maker(self, value)
        finally:
            self._open.discard(id(value))

    def _announce(self, value: Any, kind: type) -> str:
        """A name for an object that refers to itself, which is filled later."""
        if kind not in (list, dict, set):
            raise Break(f"a {kind.__name__} that refers to itself", "it cannot be made again")
        return self.declare(value, f"{kind.__name__}()", kind.__name__)

    def finish(self, value: Any, expression: str, fill: str, wish: str) -> str:
        """Gives a new container a name. `fill` is the method that fills it if it was announced."""
        known = self._made.get(id(value))
        if known is None:
            return self.declare(value, expression, wish)
        self.builds.append(f"{known}.{fill}({expression})")
        return known

    def declare(self, value: Any, expression: str, wish: str) -> str:
        """A name for a new object, before its parts are written."""
        known = self.name(wish)
        self._made[id(value)] = known
        self.builds.append(f"{known} = {expression}")
        return known

    # Writes

    def entry(self, entry: Entry, now: Any) -> None:
        """A statement that makes a changed place what it is at the end."""
        owner = self.value(entry.owner)
        if entry.kind == "key":
            place = f"{owner}[{self.value(entry.key)}]"
            if (entry.moved and entry.before is not ABSENT) or now is ABSENT:
                self.writes.append(f"del {place}")
            if now is not ABSENT:
                self.writes.append(f"{place} = {self.value(now)}")

        elif entry.kind in ("slot", "class"):
            base = "object" if entry.kind == "slot" else "type"
            verb, operand = ("del", "") if now is ABSENT else ("set", f", {self.value(now)}")
            self.writes.append(f"{base}.__{verb}attr__({owner}, {entry.key!r}{operand})")

        elif isinstance(entry.owner, list):
            items = ", ".join(self.value(item) for item, _ in now.items)
            is_tail = entry.kind == "tail"
            self.writes.append(f"list.extend({owner}, [{items}])" if is_tail else f"{owner}[:] = [{items}]")
        else:
            self.writes.append(self.replacement(owner, now))

    def replacement(self, owner: str, contents: Snapshot) -> str:
        """A statement that gives a container its contents, whatever methods its class has."""
        items = ", ".join(f"({self.value(one)}, {self.value(other)})" for one, other in contents.items)
        replace = self.constant(replace_contents, "replace_contents")
        return f"{replace}({owner}, {self.constant(Snapshot, 'Snapshot')}([{items}]))"


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
        namespace = {**self.rebuild.constants, "graph": compiled_graph, "math": math}
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
