"""One capture: what is known about the objects of the program while its code is interpreted.

The interpreter works with the program's own objects, and with fake tensors in place of tensors. An object
that existed before has an *origin*, the source where it was met first; what is read from it is guarded. An
object made on the way is *new*. Writes to objects with an origin are kept in the journal.
"""

from __future__ import annotations

import enum
from collections import Counter, deque
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

from torch_py import _C
from torch_py._dynamo import attributes, calls, formatting, iteration, operations
from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.call_parts import call_parts
from torch_py._dynamo.frame import Frame, Pending
from torch_py._dynamo.guard_rows import Guards
from torch_py._dynamo.journal import ABSENT, Journal, contents, set_key
from torch_py._dynamo.recorder import CaptureMode, Input, Recorder, memory_of
from torch_py._dynamo.sources import Source, Sources
from torch_py._dynamo.stack_trace import stack_trace
from torch_py._dynamo.varying import Policy, Varying
from torch_py._shapes.integers import SymFloat, SymInt
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Buffer, Parameter

# Values that are guarded by being equal.
SCALARS = frozenset(
    {
        int,
        float,
        bool,
        complex,
        str,
        bytes,
        type(None),
        type(Ellipsis),
        type(NotImplemented),
        range,
        slice,
        _C.dtype,
        _C.device,
        _C.layout,
        _C.memory_format,
        _C.Size,
    }
)
# Objects that are guarded by being the same.
_FIXED = (type, ModuleType, BuiltinFunctionType, CodeType, enum.Enum)
_HEAP_TYPE = 1 << 9  # flag of classes that a class statement has made


class Capture:
    """The state that the frames of a capture share."""

    def __init__(
        self,
        handlers: dict[str, Any],
        stop_at: tuple[int, int] | None = None,
        varying: Varying | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.handlers = handlers
        self.guards = Guards()
        self.sources = Sources()
        self.journal = Journal()
        self.fake_mode = CaptureMode()
        self.recorder = Recorder(self.fake_mode, lambda: stack_trace(self.frame), varying)
        self.varying = varying
        self.policy = policy or Policy(None)

        self.frame: Frame | None = None
        self.handled: BaseException | None = None  # the exception whose `except` clause runs
        self.stop_at = stop_at  # the frame and the step before which the graph has to end
        self.raised_at: tuple[int, int] | None = None  # what raised the exception that is handled, outermost
        self.waiting: list[Frame] = []  # resumed frames that wait for a result, outermost first
        self._serial = 0
        self._origins: dict[int, Source] = {}
        self._new: dict[int, Any] = {}
        self._kept: list[Any] = []  # whatever the tables above name by id
        self._adopted: set[int] = set()
        self._classes: set[tuple[int, str]] = set()

    # Origins

    def finish_guards(self, written: list[Any] | None) -> None:
        """Guards that arguments are not the same tensor, and that changed objects are not read as others.

        Parameters and the like are particular tensors, which matter only to graphs that write to tensors:
        to `written`, if that is not None.
        """
        inputs = list(self.recorder.inputs.values())
        tensors = [made.source for made in inputs]
        free = [source for source in tensors if source.kind != "constant"]
        if written is None:
            self.guards.add_distinct(self._without_shared_memory(free))
        elif free:
            for apart in self._apart(inputs, written):
                self.guards.add_distinct(apart)
        if self.guards.changed:
            objects = [s for s in self._origins.values() if s.kind != "constant"]
            self.guards.add_distinct(objects)

    def _apart(self, inputs: list[Input], written: list[Any]) -> list[list[Source]]:
        """Lists of inputs that do not share memory: those that do in this call, and that nothing is written
        to, are in different lists.
        """
        memories = {memory_of(tensor) for tensor in written}
        groups: dict[Any, list[Source]] = {}
        for number, made in enumerate(inputs):
            is_shared = _has_storage(made.real) and memory_of(made.fake) not in memories
            place = made.real.untyped_storage()._cdata if is_shared else -number - 1
            groups.setdefault(place, []).append(made.source)

        most = max(map(len, groups.values()))
        return [[group[min(k, len(group) - 1)] for group in groups.values()] for k in range(most)]

    def _without_shared_memory(self, sources: list[Source]) -> list[Source]:
        """Those whose memory no other input has in this call: code that only reads does not mind."""
        inputs = list(self.recorder.inputs.values())
        owners = Counter(made.real.untyped_storage()._cdata for made in inputs if _has_storage(made.real))
        shared = {
            id(made.source)
            for made in inputs
            if _has_storage(made.real) and owners[made.real.untyped_storage()._cdata] > 1
        }
        return [source for source in sources if id(source) not in shared]

    def origin_of(self, value: Any) -> Source | None:
        return self._origins.get(id(value))

    def is_new(self, value: Any) -> bool:
        return id(value) in self._new

    def made(self, value: Any) -> Any:
        """Notes an object that the program has made. Gives it back."""
        self._new[id(value)] = value
        return value

    def fixed(self, value: Any, text: str) -> Any:
        """Notes an object that compiled code may name: the way to it is guarded, or never changes."""
        if id(value) not in self._origins:
            self._set_origin(value, self.sources.constant(value, text))
        return value

    def _set_origin(self, value: Any, source: Source) -> None:
        self._origins[id(value)] = source
        self._kept.append(value)

    def admit(self, value: Any, source: Source) -> Any:
        """A value that was read from `source`, as the interpreter uses it, with a guard for what it is."""
        kind = type(value)
        if kind is int:
            return self._admit_number(value, source)
        if kind in SCALARS:
            self.guards.add("equals", source, value)
            return value
        if isinstance(value, Tensor):
            with self.recorder.suspended():
                return self._admit_tensor(value, source)

        known = self._origins.get(id(value))
        if known is not None:
            self._guard_alias(value, source, known)
            return value
        if id(value) in self._new:
            return value

        if self._is_particular(value, source):
            self.guards.add("is", source, value)
            named = self.sources.constant(value, source.text)
            self._set_origin(value, named)
            if kind.__flags__ & _HEAP_TYPE and not isinstance(value, type):
                self.guards.add("type_is", named, kind)  # programs may assign to __class__
        elif kind is FunctionType:
            self.guards.add("type_is", source, kind)
            self.guards.add("is", self.sources.attr(source, "__code__"), value.__code__)
            self._set_origin(value, source)
        else:
            self.guards.add("type_is", source, kind)
            self._set_origin(value, source)
        return value

    def _admit_number(self, value: int, source: Source) -> int:
        number = self.recorder.number_input(value, source)
        if type(number) is SymInt:
            self.guards.add("type_is", source, int)
        else:
            self.guards.add("equals", source, value)
        return number

    def admitted(self, value: Any) -> Any:
        """An argument that may not have been used yet, as the interpreter uses it."""
        return self.admit(value.value, value.source) if type(value) is Pending else value

    def break_at_output(self, frame: Frame) -> None:
        """Raises Break if a frame is about to call `print`: its arguments need no guards."""
        parts = call_parts(frame.program, frame.instruction, frame.stack, frame.keyword_names)
        callee = None if parts is None else self.admitted(parts.callee)
        if callee is print:
            raise unsupported_call("print", "it writes to a file")

    def _is_particular(self, value: Any, source: Source) -> bool:
        """Whether code is for this very object: because of its kind, or as particular objects lead to it."""
        if isinstance(value, _FIXED):
            return True
        first = next(iter(source.steps()))
        if isinstance(value, Module) and first.kind != "constant":
            return self.policy.is_particular(value, source)
        return first.kind == "constant" and not isinstance(value, CellType)

    def _guard_alias(self, value: Any, source: Source, known: Source) -> None:
        if known is source:
            return
        if known.kind == "constant":
            self.guards.add("is", source, value)
        else:
            self.guards.add("alias", source, known)

    def _admit_tensor(self, value: Tensor, source: Source) -> Tensor:
        if isinstance(value, FakeTensor):
            return value
        if type(value) is not Tensor and not isinstance(value, (Parameter, Buffer)):
            raise Break(
                f"use of a {type(value).__name__}",
                "subclasses of Tensor are not captured",
                "convert it to a plain tensor outside of the compiled function",
            )
        known = self.recorder.inputs.get(id(value))
        if known is not None:
            self._guard_alias(value, source, known.source)
            return known.fake

        if isinstance(value, Parameter) and source.is_fixed:
            self.guards.add("is", source, value)
            source = self.sources.constant(value, source.text)
        self.guards.add("tensor", source, value)
        return self.recorder.input(value, source)

    # Reading

    def plain(self, value: Any) -> Any:
        """A value from a container of the program: fake tensors for tensors."""
        if isinstance(value, Tensor) and not isinstance(value, FakeTensor):
            return self.recorder.fake_of(value)
        return value

    def result(self, value: Any) -> Any:
        """What native code has returned. Containers that nothing is known of are new."""
        if isinstance(value, Tensor):
            return self.plain(value)
        if type(value) in SCALARS or id(value) in self._origins or id(value) in self._new:
            return value
        if not isinstance(value, (*_FIXED, Module)):
            self._new[id(value)] = value
        return value

    def read_key(self, owner: dict[Any, Any], key: Any) -> Any:
        """``owner[key]``, or ABSENT."""
        key = self.key_in(owner, key)
        value = dict.get(owner, key, ABSENT)
        origin = self._origin_of_dict(owner)
        if origin is None or self.journal.has("key", owner, key):
            return self.plain(value)
        if origin.kind == "constant":
            self.guards.watch(owner)
        if value is ABSENT:
            self.guards.add("no_key", origin, key)
            return ABSENT
        return self.admit(value, self.sources.key(origin, key))

    def key_in(self, owner: Any, key: Any) -> Any:
        """A tensor as a dictionary or set of the program has it: that of the program, or its fake tensor."""
        if not isinstance(key, FakeTensor):
            return key
        known = self.recorder.input_of(key)
        if known is None or (id(owner) in self._new and key in owner):
            return key
        return known.real if known.real in owner or id(owner) not in self._new else key

    def _origin_of_dict(self, owner: dict[Any, Any]) -> Source | None:
        return self._origins.get(id(owner))

    def read_field(self, owner: Any, fields: dict[str, Any], name: str) -> Any:
        """An entry of the dictionary of an instance, or ABSENT."""
        origin = self._origins.get(id(owner))
        if origin is None:
            return self.plain(fields.get(name, ABSENT))
        if self.journal.has("key", fields, name):
            return self.plain(fields.get(name, ABSENT))

        self._own_fields(owner, fields, origin)
        source = self._origins[id(fields)]
        value = fields.get(name, ABSENT)
        if source.kind == "constant":
            self.guards.watch(fields)
        if value is ABSENT:
            self.guards.add("no_key", source, name)
            return ABSENT
        place = self.sources.key(source, name)
        place.text = f"{origin.text}.{name}"
        place.is_of_module = place.is_of_module or isinstance(owner, Module)
        return self.admit(value, place)

    def _own_fields(self, owner: Any, fields: dict[str, Any], origin: Source) -> None:
        if id(fields) in self._origins:
            return
        if origin.kind == "constant":
            self._set_origin(fields, self.sources.constant(fields, f"{origin.text}.__dict__"))
        else:
            self._set_origin(fields, self.sources.attr(origin, "__dict__"))

    def read_item(self, owner: Any, position: int) -> Any:
        """An element of a list or tuple. Raises IndexError."""
        origin = self._origins.get(id(owner))
        value = owner[position]
        if origin is None or self.journal.has("whole", owner):
            return self.plain(value)
        if position < 0:
            self.use_length(owner)
            position += len(owner)
        return self._admit_item(owner, origin, position, value)

    def _admit_item(self, owner: Any, origin: Source, position: int, value: Any) -> Any:
        if isinstance(owner, tuple) and origin.kind == "constant" and not isinstance(value, Tensor):
            # A tuple is what it was, so its elements are particular objects.
            return value if type(value) in SCALARS else self.fixed(value, f"{origin.text}[{position}]")
        return self.admit(value, self.sources.item(origin, position))

    def read_cell(self, cell: CellType, name: str) -> Any:
        value = contents(cell)
        origin = self._origins.get(id(cell))
        if origin is None or self.journal.has("cell", cell):
            return value if value is ABSENT else self.plain(value)
        source = self.sources.cell(origin, name)
        if value is ABSENT:
            raise Break(f"use of '{name}'", "the variable of the enclosing function has no value yet", "")
        return self.admit(value, source)

    def read_slot(self, owner: Any, name: str) -> Any:
        value = object.__getattribute__(owner, name)
        origin = self._origins.get(id(owner))
        if origin is None or self.journal.has("slot", owner, name):
            return self.plain(value)
        return self.admit(value, self.sources.attr(origin, name))

    def read_native(self, owner: Any, name: str) -> Any:
        """An attribute that the class of the object keeps natively."""
        value = getattr(owner, name)
        origin = self._origins.get(id(owner))
        if name == "__class__":
            return value

        if name == "__dict__" and isinstance(value, dict):
            if origin is not None:
                self._own_fields(owner, value, origin)
            else:
                self.made(value)
                self._new[id(value)] = value
            return value
        if origin is None:
            return self.result(value)
        if name == "__code__":
            return value
        return self.admit(value, self.sources.attr(origin, name))

    def read_class(self, kind: type, name: str, found: Any) -> Any:
        """An ordinary value that a class has under a name."""
        owner = next((owner for owner in kind.__mro__ if name in owner.__dict__), kind)
        if self.is_new(kind) or self.journal.has("class", owner, name):
            return self.plain(found)
        self.guards.watch(kind)
        self.fixed(kind, kind.__name__)
        return self.admit(found, self.sources.attr(self._constant(kind, kind.__name__), name))

    def depends_on_class(self, kind: type, name: str) -> None:
        """What `kind` has under `name`, a method or property, has to stay."""
        if id(kind) in self._new or (id(kind), name) in self._classes:
            return
        self._classes.add((id(kind), name))
        self.guards.watch(kind)
        source = self._constant(kind, kind.__name__)
        found = getattr(kind, name, ABSENT)
        if found is ABSENT:
            self.guards.add("no_attr", source, name)
            return

        place = self.sources.attr(source, name)
        if type(found) is MethodType:
            place, found = self.sources.attr(place, "__func__"), found.__func__
        elif type(found) not in (FunctionType, property) and getattr(kind, name, ABSENT) is not found:
            return  # made anew by each access
        self.guards.add("is", place, found)

    def _constant(self, value: Any, text: str) -> Source:
        return self.sources.constant(value, text)

    # Containers as a whole

    def use(self, value: Any) -> None:
        """Before native code reads `value`: guards all of its contents."""
        kind = type(value)
        if kind in SCALARS or isinstance(value, Tensor):
            return
        origin = self._origins.get(id(value))
        if origin is None:
            if isinstance(value, (list, tuple)) and id(value) not in self._new:
                for item in _items_of(value):
                    self.use(item)
            return
        if id(value) in self._adopted or self.journal.has("whole", value):
            return

        self._adopted.add(id(value))
        if isinstance(value, (list, tuple)):
            self.use_length(value)
            for position, item in enumerate(_items_of(value)):
                self.as_number(self._admit_item(value, origin, position, item))
                self.use(item)
        elif isinstance(value, dict):
            self._use_dict(value, origin)
        elif isinstance(value, (set, frozenset)):
            self.guards.add("equals", origin, kind(value))
        elif isinstance(value, (deque, bytearray)):
            raise Break(f"use of a {kind.__name__}", "one that existed before is not captured", "use a list")

    def _use_dict(self, value: dict[Any, Any], origin: Source) -> None:
        self.use_length(value)
        for key, item in dict.items(value):
            if not self.journal.has("key", value, key):
                self.as_number(self.admit(item, self.sources.key(origin, key)))
            self.use(item)

    def use_length(self, value: Any) -> None:
        """Guards how many elements a container has, and which keys."""
        origin = self._origins.get(id(value))
        if origin is None or self.journal.has("whole", value):
            return
        if isinstance(value, (list, tuple)):
            if not (origin.kind == "constant" and isinstance(value, tuple)):
                self.guards.add("length", origin, len(value))
        elif isinstance(value, dict):
            if any(entry.owner is value for entry in self.journal.entries.values()):
                return
            if origin.kind == "constant":
                self.guards.watch(value)
            self.guards.add("keys", origin, tuple(value))
        elif isinstance(value, (set, frozenset, deque, bytearray)):
            self.use(value)

    def elements_of(self, value: Any) -> list[Any]:
        """The elements of an iterable."""
        if type(value) is tuple and id(value) not in self._origins:
            return list(value)
        iterator = iteration.iterator_of(self, value)
        found = []
        while (element := iteration.next_of(self, iterator, iteration.END)) is not iteration.END:
            found.append(element)
        return found

    def items_of(self, value: Any) -> dict[Any, Any]:
        """A dictionary of the entries of a mapping."""
        if isinstance(value, dict):
            self.use(value)
            return {key: self.plain(item) for key, item in value.items()}
        keys = self.call(iteration_keys(self, value), (), {})
        return {key: operations.subscript(self, value, key) for key in self.elements_of(keys)}

    # Writing

    def change(self, value: Any) -> None:
        """Before native code changes a container."""
        if id(value) in self._new:
            return
        origin = self._origins.get(id(value))
        if origin is None:
            if type(value) in SCALARS or isinstance(value, tuple):
                return
            raise Break(
                f"a change of a {type(value).__name__}", "it is not known where the object came from", ""
            )
        if not isinstance(value, (list, dict, set, deque, bytearray)):
            raise Break(f"a change of a {type(value).__name__}", "it cannot be undone", "")
        self.use(value)
        self._guard_distinct(value, origin)
        self.journal.note("whole", value)

    def write_key(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """``owner[key] = value``; ABSENT deletes."""
        key = self.key_in(owner, key)
        if id(owner) not in self._new:
            origin = self._origin_of_dict(owner)
            if origin is None:
                raise Break("a change of a dictionary", "it is not known where the object came from", "")
            self.read_key(owner, key)  # for the guard: what is restored has to be what was there
            self._guard_distinct(owner, origin)
            self.journal.note_key(owner, key, value)
        set_key(owner, key, value)

    def write_field(self, owner: Any, fields: dict[str, Any], name: str, value: Any) -> None:
        origin = self._origins.get(id(owner))
        if origin is not None:
            if isinstance(owner, ModuleType):
                self.fixed(fields, owner.__name__)
            self._own_fields(owner, fields, origin)
            self.write_key(fields, name, value)
        elif id(owner) in self._new:
            set_key(fields, name, value)
        else:
            raise Break(f"assignment to .{name}", "it is not known where the object came from", "")

    def write_cell(self, cell: CellType, value: Any) -> None:
        if id(cell) not in self._new:
            self.journal.note("cell", cell)
        if value is ABSENT:
            del cell.cell_contents
        else:
            cell.cell_contents = value

    def write_class(self, owner: type, name: str, value: Any) -> None:
        """``owner.name = value`` for a class that existed before, which has an ordinary value there."""
        before = attributes.in_class(owner, name)
        if before is not ABSENT:
            self.read_class(owner, name, before)  # for the guard: what is restored has to be what was there
        self.fixed(owner, owner.__name__)
        self.journal.note("class", owner, name)
        type.__setattr__(owner, name, value)

    def write_slot(self, owner: Any, name: str, value: Any) -> None:
        if id(owner) not in self._new:
            origin = self._origins.get(id(owner))
            if origin is None:
                raise Break(f"assignment to .{name}", "it is not known where the object came from", "")
            self._guard_distinct(owner, origin)
            self.journal.note("slot", owner, name)
        if value is ABSENT:
            object.__delattr__(owner, name)
        else:
            object.__setattr__(owner, name, value)

    def _guard_distinct(self, value: Any, origin: Source) -> None:
        """A changed object has to stay another one than those that are read, too."""
        if origin.kind == "constant":
            return
        self.guards.changed[id(value)] = origin

    # Operations, for handlers

    def call(self, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return calls.call(self, callee, args, kwargs)

    def truth(self, value: Any) -> bool:
        return iteration.truth(self, value)

    def subscript(self, owner: Any, key: Any) -> Any:
        return operations.subscript(self, owner, key)

    def formatted(self, value: Any, conversion: int, specification: Any) -> Any:
        return formatting.formatted(self, value, conversion, specification)

    def class_of(self, value: Any) -> type:
        """``type(value)``, as the program sees it."""
        if type(value) is SymInt:
            return int
        if type(value) is SymFloat:
            return float
        if isinstance(value, FakeTensor):
            known = self.recorder.input_of(value)
            if known is not None:
                return type(known.real)
            if getattr(value, "_is_param", False):
                return Parameter
            return Tensor
        return type(value)

    def as_number(self, value: Any) -> Any:
        """A value for code that looks at the bits of integers: a size that varies is fixed."""
        return value if self.varying is None else self.varying.fixed(value)

    def forced_break(self) -> Break:
        return Break("the end of a graph", "what follows could not be captured", "")

    def next_serial(self) -> int:
        """The number of a frame, in the order in which they are made."""
        self._serial += 1
        return self._serial


def iteration_keys(capture: Capture, value: Any) -> Any:
    return attributes.load(capture, value, "keys")


def _items_of(value: list[Any] | tuple[Any, ...]) -> Any:
    """The elements, whatever `__iter__` a subclass has."""
    return tuple.__iter__(value) if isinstance(value, tuple) else list.__iter__(value)


def _has_storage(tensor: Tensor) -> bool:
    return tensor.layout == _C.strided
