"""Attributes of objects, as Python finds, sets and deletes them, with guards for where they were found."""

from __future__ import annotations

import contextlib
import types
from collections import namedtuple
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.exc import Break
from torch_py._dynamo.journal import ABSENT
from torch_py._shapes.numbers import VARYING
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


HEAP_TYPE = 1 << 9  # flag of classes that a class statement has made
_NATIVE_GETTERS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_FIELD_OF_TUPLE = type(namedtuple("_Example", "field").field)


def in_class(kind: type, name: str) -> Any:
    """What the classes of `kind` have under a name, without binding it; ABSENT if they have nothing.

    Numbers that vary are int and float to the program: their own methods run natively.
    """
    if kind in VARYING:
        kind = kind.__mro__[1]
    for owner in kind.__mro__:
        found = owner.__dict__.get(name, ABSENT)
        if found is not ABSENT:
            return found
    return ABSENT


def call_own(capture: Capture, owner: Any, name: str, *operands: Any) -> Any:
    """What a special method returns that a class of the program defines; ABSENT without one."""
    kind = type(owner)
    method = in_class(kind, name)
    if type(method) is not FunctionType:
        capture.depends_on_absence(kind, name)
        return ABSENT
    capture.depends_on_class(kind, name)
    return capture.call(method, (owner, *operands), {})


def _call_hook(capture: Capture, owner: Any, name: str, *operands: Any) -> Any:
    """Like `call_own`, for what access to attributes calls: it may be any callable, such as `dict.get`."""
    found = in_class(type(owner), name)
    is_default = isinstance(found, types.WrapperDescriptorType) and found.__name__ == name
    if found is ABSENT or is_default or type(found) is FunctionType:
        return call_own(capture, owner, name, *operands)
    capture.depends_on_class(type(owner), name)
    return capture.call(bind(capture, found, owner, type(owner), name), operands, {})


def load(capture: Capture, owner: Any, name: str) -> Any:
    """``owner.name``. Raises AttributeError as Python does."""
    if isinstance(owner, Tensor):
        return _of_tensor(capture, owner, name)
    if isinstance(owner, ModuleType):
        return _of_module(capture, owner, name)
    if isinstance(owner, type):
        return _of_class(capture, owner, name)

    kind = type(owner)
    if kind in VARYING:
        return load(capture, capture.as_number(owner), name)
    if kind is super:
        return _of_super(capture, owner, name)
    if kind is MethodType and in_class(kind, name) is ABSENT:
        return load(capture, owner.__func__, name)

    value = _call_hook(capture, owner, "__getattribute__", name)
    if value is ABSENT:
        value = _of_instance(capture, owner, kind, name)
    if value is ABSENT:
        value = _call_hook(capture, owner, "__getattr__", name)
    if value is ABSENT:
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=owner)
    return value


def _of_instance(capture: Capture, owner: Any, kind: type, name: str) -> Any:
    """The attribute of an ordinary object; ABSENT without one."""
    found = in_class(kind, name)
    if found is not ABSENT and is_data_descriptor(found):
        return _through_descriptor(capture, owner, kind, name, found)

    fields = fields_of(owner)
    if fields is not None:
        value = capture.read_field(owner, fields, name)
        if value is not ABSENT:
            return value
    if found is ABSENT:
        capture.depends_on_class(kind, name)
        return ABSENT
    return bind(capture, found, owner, kind, name)


def bind(capture: Capture, found: Any, owner: Any, kind: type, name: str, place: type | None = None) -> Any:
    """What access through an instance of `kind` gives for `found` in a class: that one, or its base `place`.

    An `owner` of None: access through the class itself.
    """
    form = type(found)
    place = place or kind
    if in_class(form, "__get__") is ABSENT:
        return capture.read_class(place, name, found)

    capture.depends_on_class(place, name)
    if form is FunctionType:
        return found if owner is None else capture.made(MethodType(found, owner))
    if form is staticmethod:
        return found.__func__
    if form is classmethod and callable(found.__func__):
        return capture.made(MethodType(found.__func__, kind))

    value = _through_getter(capture, found, owner, kind)
    if value is not ABSENT:
        return value
    value = found.__get__(owner, kind)
    return value if owner is None else capture.made(value)


def _through_getter(capture: Capture, found: Any, owner: Any, kind: type) -> Any:
    """What a descriptor with a ``__get__`` of the program gives; ABSENT for others."""
    if type(in_class(type(found), "__get__")) is FunctionType and not capture.is_new(kind):
        capture.fixed(found, type(found).__name__)
    return call_own(capture, found, "__get__", owner, kind)


def is_bound(value: Any) -> bool:
    """Whether a value is a method of C of an object; functions of C are bound to their module."""
    is_of_c = type(value) in (types.BuiltinFunctionType, types.MethodWrapperType)
    return is_of_c and not isinstance(value.__self__, (ModuleType, type, types.NoneType))


def is_data_descriptor(found: Any) -> bool:
    form = type(found)
    return in_class(form, "__set__") is not ABSENT or in_class(form, "__delete__") is not ABSENT


def _through_descriptor(capture: Capture, owner: Any, kind: type, name: str, found: Any) -> Any:
    if type(found) is types.MemberDescriptorType:
        return capture.read_slot(owner, name)
    if type(found) is types.GetSetDescriptorType:
        return capture.read_native(owner, name)

    capture.depends_on_class(kind, name)
    if isinstance(found, property):
        if found.fget is None:
            raise AttributeError(f"property {name!r} of {kind.__name__!r} object has no getter")
        return capture.call(found.fget, (owner,), {})
    if type(found) is _FIELD_OF_TUPLE and isinstance(owner, tuple):
        position, _ = found.__reduce__()[1]
        return capture.read_item(owner, position)
    if in_class(type(found), "__get__") is ABSENT:
        return found
    value = _through_getter(capture, found, owner, kind)
    return capture.read_native(owner, name) if value is ABSENT else value


def fields_of(owner: Any) -> dict[str, Any] | None:
    """The dictionary of an instance; None for objects without one."""
    try:
        fields = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None
    return fields if isinstance(fields, dict) else None


def filled_slots(owner: Any) -> dict[str, Any]:
    """The contents of the slots of an instance that have a value."""
    found = {}
    for base in type(owner).__mro__[:-1]:
        for name, member in base.__dict__.items():
            if type(member) is types.MemberDescriptorType:
                with contextlib.suppress(AttributeError):
                    found[name] = object.__getattribute__(owner, name)
    return found


# Particular kinds of objects


def _of_module(capture: Capture, module: ModuleType, name: str) -> Any:
    capture.fixed(module.__dict__, module.__name__)
    # A module's own __getattr__, which may load something and keep it, and names like __dict__.
    value = getattr(module, name) if name not in module.__dict__ else None
    found = capture.read_key(module.__dict__, name)
    if found is not ABSENT:
        return found
    is_code = isinstance(value, ModuleType) or callable(value)
    return capture.fixed(value, f"{module.__name__}.{name}") if is_code else capture.result(value)


def _of_class(capture: Capture, owner: type, name: str) -> Any:
    if name == "__dict__":
        return _entries_of_class(capture, owner)
    meta = type(owner)
    of_meta = in_class(meta, name)
    if type(of_meta) in _NATIVE_GETTERS:
        return _native_field_of_class(capture, owner, name)
    if of_meta is not ABSENT and is_data_descriptor(of_meta):
        return capture.result(getattr(owner, name))

    found = in_class(owner, name)
    if found is ABSENT:
        capture.depends_on_class(owner, name)
        if of_meta is not ABSENT and meta is not type:
            return bind(capture, of_meta, owner, meta, name)
        return capture.result(getattr(owner, name))
    return bind(capture, found, None, owner, name)


def _native_field_of_class(capture: Capture, owner: type, name: str) -> Any:
    """What the class of classes keeps natively, such as ``__name__`` and ``__mro__``."""
    value = getattr(owner, name)
    if capture.is_new(owner) or not owner.__flags__ & HEAP_TYPE:
        return capture.result(value)
    is_watched = isinstance(value, (int, tuple, type, types.NoneType))
    source_of = capture.looked_up if is_watched else capture.sources.call
    return capture.admit(value, source_of(f"{owner.__name__}.{name}", getattr, owner, name))


def _entries_of_class(capture: Capture, owner: type) -> Any:
    if not capture.is_new(owner):
        entries = dict(owner.__dict__)
        place = capture.looked_up(f"{owner.__name__}.__dict__", has_entries, owner, entries)
        capture.guards.add("equals", place, True)
    return owner.__dict__


def has_entries(owner: type, expected: dict[str, Any]) -> bool:
    """Whether a class has these entries, in this order."""
    found = owner.__dict__
    return list(found) == list(expected) and all(found[name] is expected[name] for name in expected)


def _of_super(capture: Capture, owner: Any, name: str) -> Any:
    start, target = owner.__thisclass__, owner.__self__
    if target is None or name == "__class__":
        return getattr(owner, name)

    kind = owner.__self_class__
    in_class_method = target is kind
    candidate = following_class(kind, start, name)
    if not capture.is_new(kind):
        place = capture.looked_up(f"super().{name}", following_class, kind, start, name)
        capture.guards.add("is", place, candidate)
    if candidate is None:
        raise AttributeError(f"'super' object has no attribute {name!r}")

    found = candidate.__dict__[name]
    if is_data_descriptor(found) and not in_class_method:
        return _through_descriptor(capture, target, candidate, name, found)
    return bind(capture, found, None if in_class_method else target, kind, name, candidate)


def following_class(kind: type, start: type, name: str) -> type | None:
    """The first class after `start`, in the order of `kind`, that has a name."""
    order = kind.__mro__
    return next((one for one in order[order.index(start) + 1 :] if name in one.__dict__), None)


# Tensors


def _of_tensor(capture: Capture, tensor: Tensor, name: str) -> Any:
    recorder = capture.recorder
    tensor = recorder.fake_of(tensor)
    if name == "__class__":
        return capture.class_of(tensor)
    if name in _NOT_CAPTURED or (name in ("grad_fn", "_backward_hooks") and tensor.requires_grad):
        raise Break(f"use of .{name}", "it is not part of captured code", "ask for it outside")
    known = recorder.input_of(tensor)
    if name == "grad" and known is not None:
        with recorder.outside():
            value = known.real.grad
        return capture.admit(value, capture.sources.attr(known.source, name))
    if name == "is_leaf" and tensor.requires_grad and known is not None:
        capture.guards.add("equals", capture.sources.attr(known.source, name), known.real.is_leaf)

    mine = in_class(capture.class_of(tensor), name)
    if callable(mine) and not isinstance(mine, type):
        return capture.made(TensorMethod(tensor, name))
    if mine is ABSENT and not hasattr(type(tensor), name):
        return _python_attribute(capture, tensor, name)
    capture.depends_on_class(Tensor, name)
    value = recorder.call("read", getattr, (tensor, name), {}, getattr)
    return capture.result(value)


_NOT_CAPTURED = ("_version", "retains_grad", "output_nr", "__dict__")


def _python_attribute(capture: Capture, tensor: Tensor, name: str) -> Any:
    """An attribute that the program has set on a tensor."""
    known = capture.recorder.input_of(tensor)
    if known is not None:
        fields = capture.sources.attr(known.source, "__dict__")
        if name in vars(known.real):
            return capture.admit(vars(known.real)[name], capture.sources.attr(known.source, name))
        capture.guards.add("no_key", fields, name)
    raise AttributeError(f"{capture.class_of(tensor).__name__!r} object has no attribute {name!r}")


class TensorMethod:
    """A bound method of a fake tensor."""

    __slots__ = ("__name__", "__self__")

    def __init__(self, owner: Tensor, name: str) -> None:
        self.__self__ = owner
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.__self__, self.__name__)(*args, **kwargs)


def store(capture: Capture, owner: Any, name: str, value: Any, /) -> None:
    """``owner.name = value``."""
    if isinstance(owner, Tensor):
        raise Break(f"assignment to .{name} of a tensor", "only operators change the state of tensors")
    if isinstance(owner, type):
        _store_in_class(capture, owner, name, value)
        return
    if _call_hook(capture, owner, "__setattr__", name, value) is ABSENT:
        store_plain(capture, owner, name, value)


def store_plain(capture: Capture, owner: Any, name: str, value: Any = ABSENT) -> None:
    """What ``object.__setattr__`` does, and without a value ``object.__delattr__``."""
    kind = type(owner)
    is_deletion = value is ABSENT
    operands = (owner,) if is_deletion else (owner, value)
    found = in_class(kind, name)
    if found is not ABSENT and is_data_descriptor(found):
        capture.depends_on_class(kind, name)
        if isinstance(found, property):
            function = found.fdel if is_deletion else found.fset
            if function is None:
                what = "deleter" if is_deletion else "setter"
                raise AttributeError(f"property {name!r} of {kind.__name__!r} object has no {what}")
            capture.call(function, operands, {})
        elif type(found) is MemberDescriptorType:
            capture.write_slot(owner, name, value)
        elif call_own(capture, found, "__delete__" if is_deletion else "__set__", *operands) is ABSENT:
            _store_natively(capture, owner, name, value)
        return

    fields = fields_of(owner)
    if fields is None or (is_deletion and name not in fields):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    capture.write_field(owner, fields, name, value)


def _store_natively(capture: Capture, owner: Any, name: str, value: Any) -> None:
    """Stores what native code of the class keeps, if it is not known to others."""
    if value is ABSENT or not capture.is_new(owner):
        what = "deletion of" if value is ABSENT else "assignment to"
        raise Break(f"{what} .{name}", f"a {type(owner).__name__} stores it natively")
    setattr(owner, name, value)


def _store_in_class(capture: Capture, owner: type, name: str, value: Any) -> None:
    if capture.is_new(owner):
        setattr(owner, name, value)
        return
    before = in_class(owner, name)
    is_plain = before is not ABSENT and in_class(type(owner), "__setattr__") is type.__setattr__
    if not is_plain or any(in_class(type(item), "__get__") is not ABSENT for item in (before, value)):
        why = "it may change which attributes and methods a class has"
        hint = "let the class have the attribute from the start"
        raise Break(f"assignment to {owner.__name__}.{name}", why, hint)
    capture.write_class(owner, name, value)


def delete(capture: Capture, owner: Any, name: str, /) -> None:
    """``del owner.name``."""
    if isinstance(owner, (Tensor, type)):
        raise Break(f"deletion of .{name}", "it is not captured for tensors and classes")
    if _call_hook(capture, owner, "__delattr__", name) is ABSENT:
        store_plain(capture, owner, name)
