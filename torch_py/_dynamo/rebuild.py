"""The end of a capture as Python source: what to read, the call of the graph, the objects to make, the
writes."""

from __future__ import annotations

import builtins
import collections
import re
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.breaks import Break
from torch_py._dynamo.frame import Pending
from torch_py._dynamo.journal import ABSENT, Entry, Snapshot, replace_contents
from torch_py._dynamo.makers import MAKERS, MAKERS_BY_TEST, cannot_rebuild, unknown_origin
from torch_py._dynamo.sources import Source
from torch_py._shapes.numbers import VARYING, Held
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.fx._names import Namespace
from torch_py.fx.node import Node

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.varying import Place

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
        self._names = Namespace({name, *parameters, "graph"})
        self.parameters = [self.name(one) if hasattr(builtins, one) else one for one in parameters]
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
        if source.kind == "constant":
            return self.constant(source.key, _wish(source))
        return self._read(self._access(source), _wish(source))

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
        return f"{base}[{self.value(source.key)}]"

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
        if origin is not None:
            return self.source(origin)
        return self._new_object(value, kind)

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
            raise unknown_origin(value)
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
        if entry.kind in ("key", "cell"):
            place = f"{owner}.cell_contents" if entry.kind == "cell" else f"{owner}[{self.value(entry.key)}]"
            if entry.has_moved or now is ABSENT:
                self.writes.append(f"del {place}")
            if now is not ABSENT:
                self.writes.append(f"{place} = {self.value(now)}")
        elif entry.kind in ("slot", "class"):
            base = "object" if entry.kind == "slot" else "type"
            verb, operand = ("del", "") if now is ABSENT else ("set", f", {self.value(now)}")
            self.writes.append(f"{base}.__{verb}attr__({owner}, {entry.key!r}{operand})")
        else:
            self._contents(owner, entry, now)

    def _contents(self, owner: str, entry: Entry, now: Snapshot) -> None:
        if isinstance(entry.owner, dict):
            items = ", ".join(f"({self.value(key)}, {self.value(item)})" for key, item in now.items)
        else:
            items = ", ".join(self.value(item) for item, _ in now.items)
        if entry.kind == "tail":
            self.writes.append(f"list.extend({owner}, [{items}])")
        elif isinstance(entry.owner, dict):
            # A class, as Counter, may have another `update`.
            replace = self.constant(replace_contents, "replace_contents")
            self.writes.append(f"{replace}({owner}, {self.constant(Snapshot, 'Snapshot')}([{items}]))")
        elif isinstance(entry.owner, list):
            self.writes.append(f"{owner}[:] = [{items}]")
        else:
            verb = "update" if isinstance(entry.owner, set) else "extend"
            self.writes += [f"{owner}.clear()", f"{owner}.{verb}([{items}])"]


def _wish(source: Source) -> str:
    text = re.sub(r"L\['(\w+)'\]", r"\1", source.text)
    return re.sub(r"\W+", "_", text).strip("_")[-40:] or "constant"
