"""One capture: what is known about the objects of the program while its code is interpreted.

The interpreter works with the program's own objects, and with fake tensors in place of tensors. An object
that existed before has an *origin*, the source where it was met first; what is read from it is guarded. An
object made on the way is *new*. Writes to objects with an origin are kept in the journal.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from types import CellType, FunctionType, ModuleType
from typing import Any

from torch_py._C import Size, _level_of
from torch_py._dynamo import attributes, calls, operations
from torch_py._dynamo.exc import Break, unsupported_call
from torch_py._dynamo.frame import Frame, call_parts
from torch_py._dynamo.journal import keys_of, set_attribute, set_key
from torch_py._dynamo.origins import SCALARS
from torch_py._dynamo.reading import Reading
from torch_py._dynamo.sources import Source
from torch_py._shapes.numbers import Held, SymFloat, SymInt, SymSize
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter

_SEEN_AS: dict[type, type] = {SymInt: int, SymFloat: float, SymSize: Size}


class Capture(Reading):
    """The state that the frames of a capture share, and the operations that their instructions need."""

    call = calls.call
    truth = operations.truth

    def break_at_output(self, frame: Frame) -> None:
        """Raises Break if a frame is about to call `print`: its arguments need no guards."""
        _, callee, *_ = call_parts(frame.instruction, frame.stack, frame.keyword_names)
        if self.admitted(callee) is print:
            raise unsupported_call("print", "it writes to a file")

    def elements_of(self, value: Any, most: int | None = None) -> list[Any]:
        """The elements of an iterable; with `most`, only so many need to be there."""
        if type(value) in (list, tuple):
            self.use_length(value)
            return [self.read_item(value, position) for position in range(len(value))[:most]]
        elements = operations.rest_of(self, operations.iterator_of(self, value))
        return list(islice(elements, most))

    def opened(self, value: Any) -> Any:
        """A list or tuple from before the call, copied element by element, so that its numbers may vary; any
        other value itself."""
        if type(value) in (list, tuple) and id(value) in self._origins:
            return type(value)(self.elements_of(value))
        return value

    def items_of(self, value: Any) -> dict[Any, Any]:
        """A dictionary of the entries of a mapping."""
        own = [attributes.in_class(type(value), name) for name in ("__iter__", "keys", "__getitem__")]
        # As CPython decides it, which looks at `__iter__` alone, but that of an OrderedDict is another one.
        if isinstance(value, dict) and (own[0] is dict.__iter__ or FunctionType not in map(type, own)):
            self.use_length(value)
            return {key: self.read_key(value, key) for key in keys_of(value)}
        keys = self.call(attributes.load(self, value, "keys"), (), {})
        return {key: operations.subscript(self, value, key) for key in self.elements_of(keys)}

    def assumes(self, value: Any, truth: bool) -> bool:
        """Whether the capture goes on as if a value had this truth: compiled code asks the tensor after the
        graph. Raises Break where it may not, though nothing else is in the way."""
        if not isinstance(value, FakeTensor):
            return False
        if value.numel() != 1 or value.requires_grad or _level_of(value) or len(self.recorder.scopes) > 1:
            return False
        if self.recorder.constant_of(value) is not None:
            return False
        if self.not_assumed:
            hint = "check it outside of the compiled function"
            raise Break("a check of a tensor", self.not_assumed, hint)
        self.assumed.append((value, truth))
        return True

    def class_of(self, value: Any) -> type:
        """``type(value)``, as the program sees it."""
        if type(value) is Held:
            return value.kind
        if isinstance(value, FakeTensor):
            known = self.recorder.input_of(value)
            if known is not None:
                return type(known.real)
            return Parameter if getattr(value, "_is_param", False) else Tensor
        return _SEEN_AS.get(type(value), type(value))

    # Writes to objects that existed before, which are kept in the journal and undone after the capture

    def change(self, value: Any) -> None:
        """Has to be called before native code changes a container."""
        if id(value) not in self._origins and (type(value) in SCALARS or isinstance(value, tuple)):
            return
        if not self._existed(value):
            return
        if not isinstance(value, (list, dict, set, deque, bytearray)):
            raise Break(f"a change of a {type(value).__name__}", "it cannot be undone")
        self.use(value)
        self.journal.note("whole", value)

    def write_key(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """``owner[key] = value``; ABSENT deletes."""
        key = self.key_in(owner, key)
        if self._existed(owner):
            self.depends_on_kind(owner, key)
            self.journal.note_key(owner, key, value)
        set_key(owner, key, value)

    def append_to(self, owner: list[Any], elements: list[Any]) -> None:
        """Appends to a list that the program fills, as comprehensions do: what it has is not looked at."""
        self.grow(owner)
        owner += elements

    def grow(self, owner: list[Any]) -> None:
        """Has to be called before native code appends to a list, whatever it has."""
        if self._existed(owner):
            self.journal.note_tail(owner)

    def add_keys(self, owner: dict[Any, Any], entries: dict[Any, Any]) -> None:
        """Puts entries into a dictionary that the program fills."""
        for key in entries:
            if type(key) is not str:
                self.use_key(owner, key)
        if self._existed(owner):
            for key, value in entries.items():
                if dict.__contains__(owner, key):
                    self.depends_on_kind(owner, key)
                self.journal.note_key(owner, key, value)
        owner.update(entries)

    def _existed(self, value: Any, what: str = "") -> bool:
        """Whether an object that is changed existed before; guards that it differs from all that are read."""
        if id(value) in self._new:
            return False
        self.guards.changed[id(value)] = self._known_origin(value, what)
        return True

    def _known_origin(self, value: Any, what: str = "") -> Source:
        """The origin of an object that is changed. Raises Break without one; `what` says what happens."""
        origin = self._origins.get(id(value))
        if origin is None:
            what = what or f"a change of a {type(value).__name__}"
            raise Break(what, "it is not known where the object came from")
        return origin

    def write_field(self, owner: Any, fields: dict[str, Any], name: str, value: Any) -> None:
        if self.is_new(owner) and self.origin_of(owner) is None:
            set_key(fields, name, value)
            return

        origin = self._known_origin(owner, f"assignment to .{name}")
        if isinstance(owner, ModuleType):
            self.fixed(fields, owner.__name__)
        self._own_fields(fields, origin)
        self.write_key(fields, name, value)

    def write_cell(self, cell: CellType, value: Any) -> None:
        if id(cell) not in self._new:
            self.journal.note("slot", cell, "cell_contents")
        set_attribute(object, cell, "cell_contents", value)

    def write_class(self, owner: type, name: str, value: Any) -> None:
        """``owner.name = value`` for a class that existed before, which has an ordinary value there."""
        before = attributes.in_class(owner, name)
        self.read_class(owner, name, before)  # for the guard: what is restored has to be what was there
        self.fixed(owner, owner.__name__)
        self.journal.note("class", owner, name)
        type.__setattr__(owner, name, value)

    def write_slot(self, owner: Any, name: str, value: Any) -> None:
        if self._existed(owner, f"assignment to .{name}"):
            self.journal.note("slot", owner, name)
        set_attribute(object, owner, name, value)
