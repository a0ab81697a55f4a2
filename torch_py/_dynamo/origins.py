"""What is known about the objects of a program while it is captured: where they come from, what is guarded.

An object that existed before has an *origin*, the source where it was met first. An object made on the way is
*new*.
"""

from __future__ import annotations

import abc
import enum
import types
from collections import Counter, defaultdict
from functools import cache, partial
from itertools import combinations, count
from typing import Any
from weakref import ref

from torch_py import _C
from torch_py._dynamo.attributes import HEAP_TYPE
from torch_py._dynamo.capture_mode import CaptureMode
from torch_py._dynamo.exc import Break
from torch_py._dynamo.frame import Frame, Pending
from torch_py._dynamo.journal import Journal
from torch_py._dynamo.logs import stack_trace
from torch_py._dynamo.native_rules import is_of_torch
from torch_py._dynamo.recorder import Input, Recorder
from torch_py._dynamo.sources import Guards, Source, Sources, address_of, may_share, overlap
from torch_py._dynamo.varying import Varying
from torch_py._shapes.numbers import Held, SymInt
from torch_py._subclasses.calls import memory_of
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py._thread_state import ThreadState
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Buffer, Parameter

# Values that are guarded by being equal.
SCALARS = frozenset(
    (
        int, float, bool, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice,
        _C.Size, _C.device, _C.dtype, _C.layout, _C.memory_format,
    )
)  # fmt: skip
# Objects that are guarded by being the same.
FIXED_KINDS = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, enum.Enum)


class Origins:
    """The origins of objects, and the guards and inputs that follow from them."""

    def __init__(self, handlers: Any, varying: Varying, stop_at: Any = None, not_assumed: str = "") -> None:
        self.handlers: dict[str, Any] = handlers
        self.guards = Guards()
        self.sources = Sources()
        self.journal = Journal()
        self.fake_mode = CaptureMode()
        self.recorder = Recorder(self.fake_mode, lambda: stack_trace(self.frame), varying)
        self.varying = varying
        self.policy = varying.policy

        self.before = ThreadState()

        self.frame: Frame | None = None
        self.fixes_numbers = False  # whether integers that are read from now on do not vary
        self.handled: BaseException | None = None  # the exception whose `except` clause runs
        # The frame and the step before which the graph has to end.
        self.stop_at: tuple[int, int] | None = stop_at
        self.raised_at: tuple[int, int] | None = None  # what raised the exception that is handled, outermost
        self.waiting: list[Frame] = []  # resumed frames that wait for a result, outermost first
        self.is_continuation = False  # of a function whose graph has ended before
        self.not_assumed = not_assumed  # why no assertion is taken to hold
        self.assumed: list[tuple[Any, bool]] = []  # tensors whose truth the program asserts
        self.generators: list[Any] = []  # that the program has made
        self.serials = count(1)  # of frames, in the order in which they are made
        self.tells_tensors_apart = False  # whether the program has compared tensors by their identity
        self._origins: dict[int, Source] = {}
        self._new: dict[int, Any] = {}
        self._kept: list[Any] = []  # whatever the tables above name by id
        self.held: dict[int, Held] = {}  # by the id of the source
        self._equal: set[int] = set()  # of the origins, those that are guarded by being equal
        self._adopted: set[int] = set()
        self._in_use: set[int] = set()  # containers of the program that `use` goes through
        self._classes: set[tuple[int, str]] = set()
        self._unregistered = Unregistered()

    def finish_guards(self) -> None:
        """Guards that arguments are not the same tensor, and that changed objects are not read as others.

        Parameters and the like are particular tensors, which matter only to graphs that write to inputs.
        """
        inputs = list(self.recorder.inputs.values())
        free = [made for made in inputs if made.source.kind != "constant"]
        self._guard_objects([m for m in inputs if self.tells_tensors_apart or self._is_written(m)])
        if not any(self._is_written(made) for made in inputs):
            # Code that only reads may share memory, as inputs do in this call.
            owners = Counter(address_of(made.real) for made in inputs)
            self.guards.add_distinct([made.source for made in free if owners[address_of(made.real)] == 1])
        elif free:
            self._note_shared([made for made in inputs if self._is_written(made)])
            for apart in self._apart(inputs):
                self.guards.add_distinct(apart)
            self._guard_storages(inputs)
        if self.guards.changed:
            apart = [source for key, source in self._origins.items() if key not in self._equal]
            objects = [source for source in apart if source.kind != "constant"]
            particular = [s for s in self.guards.changed.values() if s.kind == "constant"]
            if objects:
                self.guards.add_distinct([*objects, *particular])

    def _guard_objects(self, inputs: list[Input]) -> None:
        """Guards that inputs with the same memory are different objects: a change of the shape of one, or
        `is`, tells."""
        groups: dict[int, list[Source]] = defaultdict(list)
        for made in inputs:
            groups[address_of(made.real)].append(made.source)

        for sources in groups.values():
            if len(sources) > 1 and any(source.kind != "constant" for source in sources):
                self.guards.others.append(sources)

    def _is_written(self, made: Input) -> bool:
        return memory_of(made.fake) in self.fake_mode.places.written

    def _note_shared(self, written: list[Input]) -> None:
        """Notes memory of which several inputs have the same elements, so that guards say where they are.

        A change through a tensor with another history is not one that a graph can make: guards fail for it.
        """
        groups: dict[int, list[Input]] = defaultdict(list)
        for made in written:
            groups[memory_of(made.fake)].append(made)

        for members in groups.values():
            pairs = [(a.real, b.real) for a, b in combinations(members, 2) if overlap(a.real, b.real)]
            if pairs and all(may_share(a, b) for a, b in pairs):
                self.fake_mode.places.count(members[0].fake)

    def _apart(self, inputs: list[Input]) -> list[list[Source]]:
        """Lists of inputs that do not share elements. Those that may in this call are in different lists:
        because nothing is written to them, or as guards say where each of them is.
        """
        reached = self.fake_mode.places.reached()
        groups: dict[Any, list[Source]] = {}
        for number, made in enumerate(inputs):
            is_apart = self._is_written(made) and memory_of(made.fake) not in reached
            groups.setdefault(-number - 1 if is_apart else address_of(made.real), []).append(made.source)

        most = max(map(len, groups.values()))
        return [[group[min(k, len(group) - 1)] for group in groups.values()] for k in range(most)]

    def _guard_storages(self, inputs: list[Input]) -> None:
        """Guards for a graph that writes to memory, and reaches elements that its arguments do not show."""
        written = self.fake_mode.places.written.keys()
        reached = self.fake_mode.places.reached()
        concerned = [made for made in inputs if made.real.layout is _C.strided]
        concerned = [made for made in concerned if memory_of(made.fake) in written | reached]
        if reached.isdisjoint(memory_of(made.fake) for made in concerned):
            return

        has_history = any(made.real.requires_grad for made in concerned)
        first: dict[int, int] = {}
        facts = []
        for position, made in enumerate(concerned):
            storage = made.real.untyped_storage()
            is_whole = memory_of(made.fake) in written & reached and "geometry" not in made.node.meta
            facts += [first.setdefault(storage._cdata, position), storage.nbytes() if is_whole else -1]
            if is_whole and has_history:
                self._guard_base(made, concerned[first[storage._cdata]])
        self.guards.storages = [made.source for made in concerned], tuple(facts)

    def _guard_base(self, made: Input, first: Input) -> None:
        """The tensor that an input is a view of gets the history of what is written outside of the view;
        `first` is another input with the same storage."""
        base = made.real._base
        source = self.sources.attr(made.source, "_base")
        if base is None:
            self.guards.add("is", source, None)
            return
        self.guards.add("tensor", source, base)
        if made is not first and base is first.real._base:
            self.guards.add("alias", source, self.sources.attr(first.source, "_base"))

    def acts(self) -> None:
        """Has to be called before an instruction advances an iterator, or runs native code that may change
        new objects: a graph that ends later in the instruction has to end before it."""
        if self.frame is not None:
            self.frame.acted_at = self.frame.steps

    def origin_of(self, value: Any) -> Source | None:
        return self._origins.get(id(value))

    def is_new(self, value: Any) -> bool:
        return id(value) in self._new

    def made(self, value: Any) -> Any:
        """Notes an object that the program has made. Returns it."""
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
        if kind in (float, str) and self._holds(value, source):
            self.guards.add("type_is", source, kind)
            return self.held.setdefault(id(source), Held(kind, source, partial(_refuse, kind)))
        if kind in SCALARS:
            self.guards.add("equals", source, value)
            return value
        if isinstance(value, Tensor):
            with self.recorder.suspended():
                return self._admit_tensor(value, source)

        known = self._origins.get(id(value))
        if id(value) in self._equal:
            self.guards.add("equals", source, value)
        elif known is not None:
            self._guard_alias(value, source, known)
        elif id(value) not in self._new:
            self._admit_object(value, kind, source)
        return value

    def _admit_object(self, value: Any, kind: type, source: Source) -> None:
        """Gives an object that is met for the first time its origin, with a guard for what it is."""
        is_particular = self._is_particular(value, source)
        is_value = _is_value(kind) and not isinstance(value, FIXED_KINDS)

        if is_particular and (is_value or _is_plain(value)):
            self.guards.add("equals", source, value)
            self._set_equal(value, source)
        elif is_particular:
            self.guards.add("is", source, value)
            named = self.sources.constant(value, source.text)
            self._set_origin(value, named)
            if kind.__flags__ & HEAP_TYPE and not isinstance(value, type):
                self.guards.add("type_is", named, kind)  # programs may assign to __class__
        else:
            by_value = _is_value(kind)
            self.guards.add("equals" if by_value else "type_is", source, value if by_value else kind)
            if kind is types.FunctionType:
                self.guards.add("is", self.sources.attr(source, "__code__"), value.__code__)
            self._set_origin(value, source)

    def _holds(self, value: Any, source: Source) -> bool:
        """Whether compiled code passes a float or a text on without knowing it: what the program had where
        the graph before has ended is another one in each call, and so is a float that has had many values."""
        is_own = self.is_continuation and next(iter(source.steps())).kind == "argument"
        is_one_of_many = is_own or type(value) is float
        return is_one_of_many and not source.is_of_module and self.policy.holds(value, source, is_own)

    def _admit_number(self, value: int, source: Source) -> int:
        number = value if self.fixes_numbers else self.recorder.number_input(value, source)
        if type(number) is SymInt:
            self.guards.add("type_is", source, int)
        else:
            self.guards.add("equals", source, value)
        return number

    def add_abstract(self, kind: type, abstract: type) -> None:
        """Guards that a class has not been registered for an abstract one."""
        if not self._unregistered.pairs:
            place = self.sources.call("classes registered for abstract classes", self._unregistered)
            self.guards.add("equals", place, True)
        self._unregistered.pairs.add((kind, abstract))

    def admitted(self, value: Any) -> Any:
        """An argument that may not have been used yet, as the interpreter uses it."""
        return self.admit(value.value, value.source) if type(value) is Pending else value

    def _is_particular(self, value: Any, source: Source) -> bool:
        """Whether code is for this very object: because of its kind, or as particular objects lead to it."""
        if isinstance(value, FIXED_KINDS):
            return True
        first = next(iter(source.steps()))
        if isinstance(value, Module) and first.kind != "constant":
            return self.policy.is_particular(value, source)
        return first.kind == "constant" and not isinstance(value, types.CellType)

    def _set_equal(self, value: Any, source: Source) -> None:
        """Notes a value of plain values: code is for those that are equal to it."""
        self._equal.add(id(value))
        self._set_origin(value, source)

    def is_same_as_before(self, *values: Any) -> None:
        """Guards values that are otherwise guarded by being equal."""
        for value in values:
            if id(value) in self._equal:
                self.guards.add("is", self._origins[id(value)], value)

    def _guard_alias(self, value: Any, source: Source, known: Source) -> None:
        if known is source:
            return
        if known.kind == "constant":
            self.guards.add("is", source, value)
        elif source.is_fixed:  # rows of these run after a change only
            self.guards.add("alias", known, source)
        else:
            self.guards.add("alias", source, known)

    def _admit_tensor(self, value: Tensor, source: Source) -> Tensor:
        if isinstance(value, FakeTensor):
            return value
        if type(value) is not Tensor and not isinstance(value, (Parameter, Buffer)):
            hint = "convert it to a plain tensor outside of the compiled function"
            raise Break(f"use of a {type(value).__name__}", "subclasses of Tensor are not captured", hint)
        known = self.recorder.inputs.get(id(value))
        if known is not None:
            self._guard_alias(value, source, known.source)
            return known.fake

        if isinstance(value, Parameter) and source.is_fixed:
            self.guards.add("is", source, value)
            source = self.sources.constant(value, source.text)
        self.guards.add("tensor", source, value)
        return self.recorder.input(value, source)

    def as_number(self, value: Any) -> Any:
        """A value for code that looks at the bits of integers: a size that varies is fixed."""
        return self.varying.fixed(value)


def _refuse(kind: type) -> None:
    why = "it has had other values in other calls, and may be another one in the next call"
    raise Break(f"use of a {kind.__name__} that varies", why, "keep the computation in tensors")


@cache
def _is_value(kind: type) -> bool:
    """Whether objects of a class are equal by their values, which native code knows, as those of NumPy's
    scalars, datetime and Decimal."""
    if issubclass(kind, (tuple, frozenset, types.MethodType, ref, Tensor)) or is_of_torch(kind):
        return False
    methods = kind.__eq__, kind.__hash__
    is_native = all(type(method) is types.WrapperDescriptorType for method in methods)
    return is_native and object.__eq__ not in methods and object.__hash__ not in methods


def _is_plain(value: Any) -> bool:
    """Whether a value is a tuple or frozenset of plain values, which does nothing when it is compared."""
    kind = type(value)
    if kind not in (tuple, frozenset) and not (isinstance(value, tuple) and kind.__bases__ == (tuple,)):
        return False
    items = frozenset.__iter__(value) if kind is frozenset else tuple.__iter__(value)
    return not hasattr(value, "__dict__") and all(type(item) in SCALARS or _is_plain(item) for item in items)


class Unregistered:
    """Whether classes are not registered for abstract ones; asked again after any class was registered."""

    def __init__(self) -> None:
        self.pairs: set[tuple[type, type]] = set()
        self._token = abc.get_cache_token()

    def __call__(self) -> bool:
        token = abc.get_cache_token()
        if token != self._token:
            if any(issubclass(kind, abstract) for kind, abstract in self.pairs):
                return False
            self._token = token
        return True
