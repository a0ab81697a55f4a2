"""What a program reads of its objects, with a guard for each place that it looks at."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import CellType, FunctionType, MappingProxyType, MethodType, SimpleNamespace
from typing import Any

from torch_py._dynamo.attributes import HEAP_TYPE, filled_slots, in_class, is_bound
from torch_py._dynamo.exc import Break
from torch_py._dynamo.journal import ABSENT, contents, keys_of, length_of
from torch_py._dynamo.native_rules import is_of_torch
from torch_py._dynamo.origins import FIXED_KINDS, SCALARS, Origins
from torch_py._dynamo.parts import VIEWS, compared_by_identity, identities, items_of, leaves
from torch_py._dynamo.sources import Source
from torch_py._dynamo.varying_arguments import decimals, is_decimal
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module


class Reading(Origins):
    """Reads dictionaries, fields, elements, cells and classes; and containers as a whole, for native code."""

    def plain(self, value: Any) -> Any:
        """A value from a container of the program: fake tensors for tensors."""
        if isinstance(value, Tensor) and not isinstance(value, FakeTensor):
            return self.recorder.fake_of(value)
        return value

    def result(self, value: Any) -> Any:
        """What native code has returned. Containers that nothing is known of are new, but for tuples: a
        constant of the program may also be an argument."""
        if isinstance(value, Tensor):
            return self.plain(value)
        if type(value) in SCALARS or id(value) in self._origins or id(value) in self._new:
            return value
        if type(value) is not tuple and not isinstance(value, (*FIXED_KINDS, Module)):
            self._new[id(value)] = value
        return value

    def _unwritten(self, kind: str, owner: Any, key: Any = None) -> Source | None:
        """The origin of an object, for a place in it that the program has not written to."""
        return None if self.journal.has(kind, owner, key) else self._origins.get(id(owner))

    def read_key(self, owner: dict[Any, Any], key: Any) -> Any:
        """``owner[key]``, or ABSENT."""
        key = self.key_in(owner, key)
        value = dict.get(owner, key, ABSENT)
        origin = self._unwritten("key", owner, key)
        if origin is None:
            return self.plain(value)
        if origin.kind == "constant":
            self.guards.watch(owner)
        if value is ABSENT:
            self.guards.add("no_key", origin, key)
            return ABSENT
        return self.admit(value, self.sources.key(origin, key, owner))

    def depends_on_kind(self, owner: dict[Any, Any], key: Any) -> None:
        """Before a write: what is there is of this type, or nothing is there."""
        before = dict.get(owner, key, ABSENT)
        origin = self._unwritten("key", owner, key)
        if origin is None or before is ABSENT:
            self.read_key(owner, key)
            return
        if origin.kind == "constant":
            self.guards.watch(owner)
        self.guards.add("type_is", self.sources.key(origin, key, owner), type(before))

    def key_in(self, owner: Any, key: Any) -> Any:
        """A tensor as a dictionary or set of the program has it: that of the program, or its fake tensor."""
        if type(key) is str:
            return key
        if not isinstance(key, FakeTensor):
            self.use_key(owner, key)
            return key
        known = self.recorder.input_of(key)
        if known is None or (id(owner) in self._new and key in owner):
            return key
        if id(owner) not in self._new and known.source.kind != "constant":
            self.guards.add("is", known.source, known.real)
        return known.real if known.real in owner or id(owner) not in self._new else key

    def use_key(self, container: Any, key: Any) -> None:
        """Before native code looks for a key, or adds it: guards what the key is equal to. An object that is
        compared by its identity is this very one or, in a new container, other than its keys."""
        self.use_fields(key)
        self.tells_tensors_apart = self.tells_tensors_apart or isinstance(key, Tensor)
        found = compared_by_identity([key])
        if id(container) not in self._new:
            self._are_particular(found)
        elif found:
            self.tells_apart(*found, *compared_by_identity(list(container)))

    def _are_particular(self, values: list[Any]) -> None:
        """Code is for these very objects, as a container that existed before has them as keys."""
        for value in values:
            self.fixed(value, f"a {type(value).__name__}")
            self.guard_identity(value)

    def guard_identity(self, value: Any) -> None:
        """Code is for this very object, if it existed before."""
        if (origin := self._origins.get(id(value))) is not None and origin.kind != "constant":
            self.guards.add("is", origin, value)

    def tells_apart(self, *values: Any) -> None:
        """Guards that objects which existed before stay different ones."""
        self.tells_tensors_apart = self.tells_tensors_apart or any(isinstance(v, Tensor) for v in values)
        found = {
            id(one): origin
            for one in values
            if (origin := self._origins.get(id(one))) is not None
            and id(one) not in self._equal
            and not isinstance(one, Tensor)
        }
        if any(origin.kind != "constant" for origin in found.values()):
            self.guards.add_distinct(list(found.values()))

    def read_field(self, owner: Any, fields: dict[str, Any], name: str) -> Any:
        """An entry of the dictionary of an instance, or ABSENT."""
        origin = self._origins.get(id(owner))
        if origin is not None and not self.journal.has("key", fields, name):
            source = self._own_fields(fields, origin)
            if name in fields:
                place = self.sources.key(source, name, fields)
                place.text = f"{origin.text}.{name}"
                place.is_of_module = place.is_of_module or isinstance(owner, Module)
        return self.read_key(fields, name)

    def _own_fields(self, fields: dict[str, Any], origin: Source) -> Source:
        """The origin of the dictionary of an instance, which has this origin."""
        if id(fields) not in self._origins:
            source = self.sources.attr(origin, "__dict__")
            is_fixed = origin.kind == "constant"
            self._set_origin(fields, self.sources.constant(fields, source.text) if is_fixed else source)
        return self._origins[id(fields)]

    def read_item(self, owner: Any, position: int) -> Any:
        """An element of a list or tuple. Raises IndexError."""
        origin = self._unwritten("whole", owner)
        length = length_of(owner)
        if not 0 <= position < length:
            self.use_length(owner)
        value = owner[position]
        if origin is None:
            return self.plain(value)
        if position < 0:
            position += length
        return self._admit_item(owner, origin, position, value)

    def _admit_item(self, owner: Any, origin: Source, position: int, value: Any) -> Any:
        if position >= self.journal.length_before(owner):
            self.use_length(owner)  # which says where appended elements are
            return self.plain(value)
        if id(owner) in self._equal:
            if type(value) not in SCALARS and id(value) not in self._equal:
                self._set_equal(value, self.sources.item(origin, position, owner))
            return value
        if isinstance(owner, tuple) and origin.kind == "constant" and not isinstance(value, Tensor):
            # A tuple is what it was, so its elements are particular objects.
            return value if type(value) in SCALARS else self.fixed(value, f"{origin.text}[{position}]")
        return self.admit(value, self.sources.item(origin, position, owner))

    def read_cell(self, cell: CellType, name: str) -> Any:
        value = contents(cell)
        origin = self._unwritten("slot", cell, "cell_contents")
        if origin is None:
            return self.plain(value)
        if value is ABSENT:
            raise Break(f"use of '{name}'", "the variable of the enclosing function has no value yet")
        return self.admit(value, self.sources.cell(origin))

    def read_slot(self, owner: Any, name: str) -> Any:
        origin = self._unwritten("slot", owner, name)
        try:
            value = object.__getattribute__(owner, name)
        except AttributeError:
            if origin is not None:
                self.guards.add("no_attr", origin, name)
            raise
        return self.plain(value) if origin is None else self.admit(value, self.sources.attr(origin, name))

    def read_native(self, owner: Any, name: str) -> Any:
        """An attribute that the class of the object keeps natively."""
        value = getattr(owner, name)
        origin = self._origins.get(id(owner))
        if name == "__class__":
            return value

        if name == "__dict__" and isinstance(value, dict):
            if origin is not None:
                self._own_fields(value, origin)
            else:
                self.made(value)
            return value
        return self.result(value) if origin is None else self.admit(value, self.sources.attr(origin, name))

    def read_class(self, kind: type, name: str, found: Any) -> Any:
        """An ordinary value that a class has under a name."""
        owner = next((owner for owner in kind.__mro__ if name in owner.__dict__), kind)
        if self.is_new(kind) or self.journal.has("class", owner, name):
            return self.plain(found)
        self.guards.watch(kind)
        self.fixed(kind, kind.__name__)
        return self.admit(found, self.sources.attr(self.sources.constant(kind, kind.__name__), name))

    def looked_up(self, text: str, function: Callable[..., Any], kind: type, *args: Any) -> Source:
        """What a function reads from a class, for these arguments."""
        self.guards.watch(kind)
        return self.sources.call(text, function, kind, *args, kind="lookup")

    def depends_on_class(self, kind: type, name: str) -> None:
        """What `kind` has under `name`, a method or property, has to stay."""
        if id(kind) in self._new or (id(kind), name) in self._classes:
            return
        self._classes.add((id(kind), name))
        self.guards.watch(kind)
        source = self.sources.constant(kind, kind.__name__)
        found = getattr(kind, name, ABSENT)
        if found is ABSENT:
            self.guards.add("no_attr", source, name)
            return

        place = self.sources.attr(source, name)
        if type(found) is MethodType:
            place, found = self.sources.attr(place, "__func__"), found.__func__
        elif type(found) not in (FunctionType, property) and getattr(kind, name, ABSENT) is not found:
            # Made anew by each access.
            place = self.looked_up(f"{kind.__name__}.{name}", in_class, kind, name)
            found = in_class(kind, name)
        self.guards.add("is", place, found)

    def depends_on_type_of_field(self, owner: Any, name: str) -> None:
        """What an object has under `name` may be another value, of the same type."""
        origin = self._origins.get(id(owner))
        if origin is not None and not self.journal.has("key", vars(owner), name):
            self.guards.add("type_is", self.sources.attr(origin, name), type(vars(owner)[name]))

    def depends_on_absence(self, kind: type, name: str) -> None:
        """A class of the program has no special method of its own under `name`, and has to stay so."""
        if kind.__flags__ & HEAP_TYPE and not issubclass(kind, Tensor):
            self.depends_on_class(kind, name)

    # Containers as a whole

    def use(self, value: Any) -> None:
        """Before native code reads `value`: guards all of its contents."""
        kind = type(value)
        if kind in SCALARS or isinstance(value, Tensor):
            return
        if is_decimal(kind):
            self.guards.add("equals", self.sources.call("the context of decimal", decimals), decimals())
        origin = self._origins.get(id(value))
        if origin is None:
            if isinstance(value, (list, tuple)) and id(value) not in self._in_use:
                self._in_use.add(id(value))  # it may contain itself
                for item in items_of(value):
                    self.use(item)
                self._in_use.remove(id(value))
            return
        if id(value) in self._adopted or self.journal.has("whole", value):
            return

        self._adopted.add(id(value))
        if isinstance(value, (list, tuple)):
            self.use_length(value)
            for position, item in enumerate(items_of(value)):
                self.as_number(self._admit_item(value, origin, position, item))
                self.use(item)
        elif isinstance(value, dict):
            self._use_dict(value, origin)
        elif isinstance(value, (set, frozenset)):
            self._are_particular(compared_by_identity(list(value)))
            self.guards.add("equals", origin, kind(value))
        elif isinstance(value, SimpleNamespace):
            self._own_fields(vars(value), origin)
            self.use(vars(value))
        elif is_bound(value):
            self.owner_of(value)
        elif kind is partial:
            for name in ("func", "args", "keywords"):
                self.use(self.read_native(value, name))
        elif isinstance(value, BaseException):
            self.use(self.read_native(value, "args"))  # of which its text consists
        elif _hides_contents(value):
            raise Break(f"use of a {kind.__name__}", "one that existed before is not captured", "use a list")

    def _use_dict(self, value: dict[Any, Any], origin: Source) -> None:
        self.use_length(value)
        for key in keys_of(value):
            item = dict.__getitem__(value, key)
            if not self.journal.has("key", value, key):
                self.as_number(self.admit(item, self.sources.key(origin, key, value)))
            self.use(item)

    def use_fields(self, *values: Any) -> None:
        """Before native code may look into containers, and call special methods of objects, which it is not
        seen to: guards the contents of all of them, and which of the objects are the same one."""
        waiting = list(values)
        compared = []
        for value in leaves(waiting, self.use):
            compared += identities(value)
            if names := _special_methods(type(value)):
                for name in names:
                    self.depends_on_class(type(value), name)
                waiting += self._fields_in_use(value)
        if len(compared) > 1:
            self.tells_apart(*compared)

    def owner_of(self, method: Any) -> Any:
        """The object that a method of C is bound to; a module, class or None for a function."""
        has_origin = is_bound(method) and id(method) in self._origins
        return self.read_native(method, "__self__") if has_origin else method.__self__

    def guard_code(self, function: FunctionType) -> None:
        """Guards what a function of the program does."""
        if not self.is_new(function):
            self.fixed(function, function.__name__)
            place = self.sources.attr(self._origins[id(function)], "__code__")
            self.guards.add("is", place, function.__code__)

    def keep(self, *values: Any) -> None:
        """Guards that objects in arguments of a node, such as a Generator, are those that the graph keeps."""
        for value in leaves(list(values)):
            self.guard_identity(value)

    def _fields_in_use(self, owner: Any) -> list[Any]:
        fields = getattr(owner, "__dict__", {})
        origin = self._origins.get(id(owner))
        slots = filled_slots(owner)
        found = [*fields.values(), *slots.values()]
        if any(isinstance(value, Tensor) for value in found):
            what = f"a native call with a {type(owner).__name__}"
            raise Break(what, "its methods may compute with tensors")

        if origin is not None:
            for name in slots:
                self.use(self.as_number(self.read_slot(owner, name)))
            if fields:
                self._own_fields(fields, origin)
                self.use(fields)
        return found

    def use_length(self, value: Any) -> None:
        """Guards how many elements a container has, and which keys."""
        origin = self._unwritten("whole", value)
        if origin is None:
            return
        if isinstance(value, (list, tuple)):
            if not (isinstance(value, tuple) and (origin.kind == "constant" or id(value) in self._equal)):
                self.guards.add("length", origin, self.journal.length_before(value))
        elif isinstance(value, dict):
            if origin.kind == "constant":
                self.guards.watch(value)
            self._are_particular(compared_by_identity(keys_of(value)))
            self.guards.add("keys", origin, self.journal.keys_before(value))
        else:
            self.use(value)


# Special methods that native code calls where it compares, hashes, counts or prints objects.
_SPECIAL = tuple(f"__{name}__" for name in "eq ne lt le gt ge hash bool len index int float str repr".split())


def _special_methods(kind: type) -> list[str]:
    """The special methods that a class of the program has."""
    if not kind.__flags__ & HEAP_TYPE or issubclass(kind, (Module, Enum, type)) or is_of_torch(kind):
        return []
    return [name for name in _SPECIAL if type(in_class(kind, name)) is FunctionType]


def _hides_contents(value: Any) -> bool:
    """Whether a value has contents that change and that guards cannot read, as those of a buffer."""
    if isinstance(value, _VIEWS):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return type(value).__hash__ is None or isinstance(value, memoryview)


_VIEWS: tuple[type, ...] = (deque, MappingProxyType, *VIEWS)
