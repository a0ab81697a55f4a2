"""What a program reads apart from its arguments, changed between two calls."""

from __future__ import annotations

import abc
import array
import collections
import ctypes
import datetime
import decimal
import operator
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounter

# A program, and what is changed before its second call.
Case = tuple[Callable[..., Any], Callable[[], Any]]
CASES: dict[str, Callable[[], Any]] = {}


def case(make: Callable[[], Any]) -> Callable[[], Any]:
    CASES[make.__name__.strip("_")] = make
    return make


# Classes


@case
def _getattr_of_a_class() -> Case:
    class Owner:
        pass

    def program(x: Any) -> Any:
        return x * getattr(owner, "factor", 3)

    owner = Owner()
    return program, lambda: setattr(Owner, "__getattr__", lambda self, name: 7)


@case
def _getattribute_of_a_class() -> Case:
    class Owner:
        factor = 2

    owner = Owner()
    return lambda x: x * owner.factor, lambda: setattr(Owner, "__getattribute__", lambda self, name: 7)


class _Descriptor:
    factor = 2

    def __get__(self, owner: Any, kind: Any) -> int:
        return self.factor


@case
def _fields_of_a_descriptor() -> Case:
    class Owner:
        found = _Descriptor()

    owner = Owner()
    return lambda x: x * owner.found, lambda: setattr(Owner.__dict__["found"], "factor", 5)


@case
def _other_descriptor() -> Case:
    class Owner:
        found = _Descriptor()

    other = _Descriptor()
    other.factor = 5
    owner = Owner()
    return lambda x: x * owner.found, lambda: setattr(Owner, "found", other)


@case
def _method_that_super_finds() -> Case:
    class First:
        def scale(self, x: Any) -> Any:
            return x * 2

    class Second:
        def scale(self, x: Any) -> Any:
            return x * 3

    class Both(First):
        def scale(self, x: Any) -> Any:
            return super().scale(x) + 1

    both = Both()
    return lambda x: both.scale(x), lambda: setattr(Both, "__bases__", (Second,))


class _Meta(type):
    answer = False

    def __instancecheck__(cls, value: Any) -> bool:
        return cls.answer


@case
def _instance_check() -> Case:
    class Kind(metaclass=_Meta):
        pass

    return lambda x: x * 2 if isinstance(x, Kind) else x * 3, lambda: setattr(Kind, "answer", True)


@pytest.mark.parametrize("checks_class", [False, True])
def test_classes_that_are_registered_later(checks_class: bool) -> None:
    class Abstract(abc.ABC):  # noqa: B024
        pass

    class Kind:
        pass

    def program(x: Any, one: Any) -> Any:
        found = issubclass(Kind, Abstract) if checks_class else isinstance(one, Abstract)
        return x * 2 if found else x * 3

    compiled = torch.compile(program, backend="eager")
    one = Kind()
    assert compiled(torch.ones(2), one).tolist() == [3, 3]
    Abstract.register(Kind)
    assert compiled(torch.ones(2), one).tolist() == [2, 2]


# Special methods that a class gets later.
_LATER = {
    "__bool__": (lambda x, one: x * 2 if one else x * 3, lambda self: False),
    "__len__": (lambda x, one: x * 2 if one else x * 3, lambda self: 0),
    "__eq__": (lambda x, one: x * 2 if one == 1 else x * 3, lambda self, other: True),
    "__contains__": (lambda x, one: x * 2 if 5 in one else x * 3, lambda self, other: True),
    "__iadd__": (lambda x, one: x * operator.iadd(one, 1), lambda self, other: 7),
    "__init__": (lambda x, one: x * type(one)().factor, lambda self: setattr(self, "factor", 5)),
    "__call__": (lambda x, one: x * 2 if callable(one) else x * 3, lambda self: None),
}


@pytest.mark.parametrize("name", _LATER)
def test_special_methods_that_a_class_gets_later(name: str) -> None:
    class Kind:
        factor = 2

        def __iter__(self) -> Iterator[int]:
            return iter((1, 2))

        def __add__(self, other: int) -> int:
            return other

    program, method = _LATER[name]
    compiled = torch.compile(program, backend="eager")
    x, one = torch.ones(2), Kind()
    assert torch.equal(compiled(x, one), program(x, one))
    setattr(Kind, name, method)
    assert torch.equal(compiled(x, one), program(x, one))


@case
def _item_of_a_dictionary_class() -> Case:
    class Entries(dict):
        pass

    entries = Entries(a=2)
    return lambda x: x * entries["a"], lambda: setattr(Entries, "__getitem__", lambda self, key: 5)


@case
def _name_of_a_class() -> Case:
    class Kind:
        pass

    return lambda x: x * len(Kind.__name__), lambda: setattr(Kind, "__name__", "Other")


@case
def _bases_of_a_class() -> Case:
    class First:
        pass

    class Second(First):
        pass

    class Other:
        pass

    def change() -> None:
        Second.__bases__ = (Other, First)

    return lambda x: x * 2 if Other in Second.__mro__ else x * 3, change


@case
def _entries_of_a_class() -> Case:
    class Kind:
        factor = 2

    return lambda x: x * vars(Kind)["factor"], lambda: setattr(Kind, "factor", 5)


@case
def _annotations_of_a_class() -> Case:
    class Kind:
        one: int = 1

    return lambda x: x * len(Kind.__annotations__), lambda: Kind.__annotations__.update(two=int)


@case
def _order_of_patterns() -> Case:
    class Pair:
        __match_args__ = ("one", "two")
        one, two = 1, 2

    def program(x: Any) -> Any:
        match pair:
            case Pair(1, two):
                return x * two
        return x * 9

    pair = Pair()
    return program, lambda: setattr(Pair, "__match_args__", ("two", "one"))


# Objects


@case
def _attribute_of_a_function() -> Case:
    def program(x: Any) -> Any:
        return x * program.factor

    program.factor = 2
    return program, lambda: setattr(program, "factor", 5)


@case
def _factory_of_a_defaultdict() -> Case:
    entries: Any = collections.defaultdict(lambda: 2)

    def program(x: Any) -> Any:
        result = x * entries["a"]
        del entries["a"]
        return result

    return program, lambda: setattr(entries, "default_factory", lambda: 5)


@case
def _mapping_behind_a_proxy() -> Case:
    entries = {"a": 2}
    proxy = types.MappingProxyType(entries)
    return lambda x: x * proxy["a"], lambda: entries.update(a=5)


@case
def _items_of_an_array() -> Case:
    items = array.array("i", [2, 3])
    return lambda x: x * items[0], lambda: items.__setitem__(0, 5)


@case
def _bytes_behind_a_view() -> Case:
    items = bytearray(b"ab")
    view = memoryview(items)
    return lambda x: x * view[0], lambda: items.__setitem__(0, 5)


@case
def _values_of_a_dictionary() -> Case:
    entries = {"a": 2}
    values = entries.values()
    return lambda x: x * sum(values), lambda: entries.update(b=5)


@case
def _name_of_a_function() -> Case:
    def named() -> None:
        pass

    return lambda x: x * len(named.__name__), lambda: setattr(named, "__name__", "another")


@case
def _code_of_a_function() -> Case:
    def named(one: int, two: int) -> None:
        pass

    code = (lambda: 0).__code__
    return lambda x: x * named.__code__.co_argcount, lambda: setattr(named, "__code__", code)


@case
def _field_of_a_structure() -> Case:
    class Structure(ctypes.Structure):
        _fields_ = (("factor", ctypes.c_int),)

    structure = Structure(2)
    return lambda x: x * structure.factor, lambda: setattr(structure, "factor", 5)


@typing.runtime_checkable
class _HasFactor(typing.Protocol):
    factor: int


@typing.runtime_checkable
class _CanScale(typing.Protocol):
    def scale(self) -> int: ...


def _protocol(cls: Any, change: Callable[[Any, type], None], **fields: Any) -> Case:
    """A program that asks whether an object is of a protocol, which `change` changes for the object or its
    class."""

    class Thing:
        pass

    thing = Thing()
    vars(thing).update(fields)
    program = lambda x: x * 2 if isinstance(thing, cls) else x * 3  # noqa: E731
    return program, lambda: change(thing, Thing)


@case
def _member_of_an_object_for_a_protocol() -> Case:
    return _protocol(_HasFactor, lambda thing, kind: setattr(thing, "factor", 1))


@case
def _member_that_an_object_loses() -> Case:
    return _protocol(_HasFactor, lambda thing, kind: delattr(thing, "factor"), factor=1)


@case
def _member_of_a_class_for_a_protocol() -> Case:
    return _protocol(_HasFactor, lambda thing, kind: setattr(kind, "factor", 1))


@case
def _method_of_a_class_for_a_protocol() -> Case:
    return _protocol(_CanScale, lambda thing, kind: setattr(kind, "scale", lambda self: 1))


@case
def _method_of_a_protocol_in_issubclass() -> Case:
    class Thing:
        def scale(self) -> int:
            return 1

    program = lambda x: x * 2 if issubclass(Thing, _CanScale) else x * 3  # noqa: E731
    return program, lambda: delattr(Thing, "scale")


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_protocols_of_an_argument(backend: str) -> None:
    compiled = torch.compile(
        lambda x, value: x * 2 if isinstance(value, _HasFactor) else x * 3, backend=backend
    )
    value = types.SimpleNamespace()
    other = types.SimpleNamespace(factor=1)
    for one, factor in ((value, 3), (other, 2), (value, 3), (types.SimpleNamespace(factor=None), 2)):
        assert compiled(torch.ones(2), one).tolist() == [factor] * 2
    value.factor = 1
    assert compiled(torch.ones(2), value).tolist() == [2, 2]


class _Slotted:
    __slots__ = ("factor",)


class _Derived:
    ready = False

    @property
    def factor(self) -> int:
        if not self.ready:
            raise AttributeError("factor")
        return 1


@case
def _slot_that_is_filled() -> Case:
    thing = _Slotted()
    program = lambda x: x * 2 if isinstance(thing, _HasFactor) else x * 3  # noqa: E731
    return program, lambda: setattr(thing, "factor", 1)


@case
def _slot_that_is_emptied() -> Case:
    thing = _Slotted()
    thing.factor = 1
    program = lambda x: x * 2 if isinstance(thing, _HasFactor) else x * 3  # noqa: E731
    return program, lambda: delattr(thing, "factor")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="protocols do not call properties any more")
@pytest.mark.parametrize("ready", [False, True])
def test_property_of_a_protocol(ready: bool) -> None:
    thing = _Derived()
    thing.ready = ready
    compiled = torch.compile(lambda x: x * 2 if isinstance(thing, _HasFactor) else x * 3, backend="eager")
    assert compiled(torch.ones(1)).item() == (2 if ready else 3)
    thing.ready = not ready
    assert compiled(torch.ones(1)).item() == (3 if ready else 2)


def test_values_of_a_protocols_fields_do_not_matter() -> None:
    counter = CompileCounter()
    compiled = torch.compile(
        lambda x, value: x * 2 if isinstance(value, _HasFactor) else x * 3, backend=counter
    )
    for number in range(6):
        assert compiled(torch.ones(1), types.SimpleNamespace(factor=f"s{number}")).item() == 2
    assert counter.frame_count == 1


def test_registrations_do_not_matter_for_protocols_with_fields() -> None:
    counter = CompileCounter()
    compiled = torch.compile(
        lambda x, value: x * 2 if isinstance(value, _HasFactor) else x * 3, backend=counter
    )
    for _ in range(3):
        assert compiled(torch.ones(1), types.SimpleNamespace()).item() == 3
        abc.ABCMeta("Abstract", (), {}).register(type("Other", (), {}))
    assert counter.frame_count == 1


class _Money(decimal.Decimal):
    pass


@pytest.mark.parametrize("kind", [decimal.Decimal, _Money])
def test_rules_of_decimal(kind: Any) -> None:
    three = kind(3)

    def program(x: Any, value: Any) -> Any:
        return x * float(value / three), x * float(kind(1) / value)

    compiled = torch.compile(program, backend="eager")
    x = torch.ones(2, dtype=torch.float64)
    rules = [(4, decimal.ROUND_UP), (2, decimal.ROUND_UP), (2, decimal.ROUND_DOWN), (28, decimal.ROUND_DOWN)]
    for precision, rounding in (*rules, rules[0]):
        with decimal.localcontext() as context:
            context.prec = precision
            context.rounding = rounding
            for one, other in zip(compiled(x, kind(7)), program(x, kind(7))):
                assert torch.equal(one, other)


VALUES = {
    "timedelta": (lambda x, value: x * value.days, datetime.timedelta(2), datetime.timedelta(5)),
    "Decimal": (lambda x, value: x * float(value), decimal.Decimal(2), decimal.Decimal(5)),
    "Pattern": (lambda x, value: x * len(value.sub("", "aab")), re.compile("a"), re.compile("b")),
    "number": (lambda x, value: x * value, numpy.float64(2), numpy.float64(5)),
    "zero": (lambda x, value: x / value, numpy.float64(0.0), numpy.float64(-0.0)),
    "index": (lambda x, value: x[value] * 2, numpy.int64(0), numpy.int64(1)),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_native_classes(name: str) -> None:
    program, *values = VALUES[name]
    compiled = torch.compile(program, backend="eager")
    x = torch.arange(1.0, 3.0)
    for value in values:
        assert torch.equal(compiled(x, value), program(x, value))


class _Object:
    pass


_KNOWN = _Object()
_IN_LIST = [_KNOWN]
_IN_DICTIONARY = {_KNOWN: 2}
IDENTITIES = {
    "is": lambda x, one, other: x * 2 if one is other else x * 3,
    "is known": lambda x, one, other: x * 2 if one is _KNOWN else x * 3,
    "equal": lambda x, one, other: x * 2 if one == other else x * 3,
    "in a list": lambda x, one, other: x * 2 if one in _IN_LIST else x * 3,
    "in a dictionary": lambda x, one, other: x * _IN_DICTIONARY.get(one, 3),
    "set": lambda x, one, other: x * len({one, other}),
    "set of a list": lambda x, one, other: x * len(set([one, other])),
    "dictionary": lambda x, one, other: x * len({one: 1, other: 2}),
    "dictionary of pairs": lambda x, one, other: x * len(dict([(one, 1), (other, 2)])),
    "comprehension": lambda x, one, other: x * len({item for item in (one, other)}),
    "lists": lambda x, one, other: x * ([one, 1] == [other, 1]),
    "nested tuples": lambda x, one, other: x * ((1, (one,)) == (1, (other,))),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_objects_that_become_the_same_or_different_ones(name: str) -> None:
    program = IDENTITIES[name]
    compiled = torch.compile(program, backend="eager")
    x = torch.ones(2)
    for one, other in ((_KNOWN, _KNOWN), (_Object(), _Object()), (_KNOWN, _KNOWN), (_KNOWN, _Object())):
        assert torch.equal(compiled(x, one, other), program(x, one, other))


def test_an_argument_that_becomes_a_list_which_the_program_changes() -> None:
    known = [1]

    def program(x: Any, items: list[int]) -> Any:
        known.append(1)
        result = x * len(items)
        known.pop()
        return result

    compiled = torch.compile(program, backend="eager")
    assert compiled(torch.ones(2), [1]).tolist() == [1, 1]
    assert compiled(torch.ones(2), known).tolist() == [2, 2]


def test_a_tensor_as_key() -> None:
    known = torch.ones(2)
    entries = {known: 2}
    compiled = torch.compile(lambda x: x * entries.get(x, 5), backend="eager")
    for x, factor in ((known, 2), (torch.ones(2), 5), (known, 2)):
        assert compiled(x).tolist() == [factor] * 2


def test_identities_of_arguments() -> None:
    first, second = object(), object()
    known = {id(first): 2, id(second): 5}
    compiled = torch.compile(lambda x, one: x * known[id(one)], backend="eager")
    assert compiled(torch.ones(2), first).tolist() == [2, 2]
    assert compiled(torch.ones(2), second).tolist() == [5, 5]


# The process


@case
def _imported_module() -> Case:
    def put(factor: int) -> None:
        sys.modules["_changed_module"] = module = types.ModuleType("_changed_module")
        module.factor = factor

    def program(x: Any) -> Any:
        import _changed_module

        return x * _changed_module.factor

    put(2)
    return program, lambda: put(5)


@contextmanager
def _set_back() -> Iterator[None]:
    """Switches of the process that programs below change."""
    threads = torch.get_num_threads()
    limit = sys.getrecursionlimit()
    anomaly = torch.is_anomaly_enabled()
    dtype = torch.get_autocast_dtype("cpu")
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        sys.setrecursionlimit(limit)
        torch.autograd.set_detect_anomaly(anomaly)
        torch.use_deterministic_algorithms(False)
        torch.set_autocast_dtype("cpu", dtype)
        torch.set_autocast_cache_enabled(True)
        sys.modules.pop("_changed_module", None)


SWITCHES = {
    "threads": (lambda x: x * torch.get_num_threads(), lambda: torch.set_num_threads(3)),
    "recursion": (lambda x: x * sys.getrecursionlimit(), lambda: sys.setrecursionlimit(2345)),
    "anomaly": (
        lambda x: x * 2 if torch.is_anomaly_enabled() else x,
        lambda: torch.autograd.set_detect_anomaly(True),
    ),
    "warn only": (
        lambda x: x * 2 if torch.is_deterministic_algorithms_warn_only_enabled() else x,
        lambda: torch.use_deterministic_algorithms(False, warn_only=True),
    ),
    "autocast dtype": (
        lambda x: x * 2 if torch.get_autocast_dtype("cpu") is torch.float16 else x,
        lambda: torch.set_autocast_dtype("cpu", torch.float16),
    ),
    "autocast cache": (
        lambda x: x * 2 if torch.is_autocast_cache_enabled() else x,
        lambda: torch.set_autocast_cache_enabled(False),
    ),
}


@pytest.mark.parametrize("name", [*CASES, *SWITCHES])
def test_what_changes_later(name: str) -> None:
    with _set_back():
        program, change = CASES[name]() if name in CASES else SWITCHES[name]
        compiled = torch.compile(program, backend="eager")
        x = torch.ones(2)
        assert torch.equal(compiled(x), program(x))
        change()
        assert torch.equal(compiled(x), program(x))


# Tensors


def _inference_tensor() -> Any:
    with torch.inference_mode():
        return torch.ones(2)


def _changed() -> Any:
    return torch.ones(2).mul_(1)


def _leaf() -> Any:
    return torch.ones(2, requires_grad=True)


def _retaining() -> Any:
    x = _leaf() * 1
    x.retain_grad()
    return x


_SHARED = [torch.ones(2)]
TENSORS = {
    "is_leaf": (lambda x: x * 2 if x.is_leaf else x * 3, [_leaf, lambda: _leaf() * 1]),
    "is_inference": (lambda x: x * 2 if x.is_inference() else x * 3, [_inference_tensor]),
    "_version": (lambda x: x * x._version, [_changed]),
    "is_set_to": (lambda x: x * 2 if x.is_set_to(_SHARED[0]) else x * 3, [lambda: _SHARED[0][:]]),
    "retains_grad": (lambda x: x * 2 if x.retains_grad else x * 3, [lambda: _leaf() * 1, _retaining]),
}


@pytest.mark.parametrize("name", TENSORS)
def test_states_of_tensors(name: str) -> None:
    program, others = TENSORS[name]
    compiled = torch.compile(program, backend="eager")
    for make in (lambda: torch.ones(2), *others):
        x = make()
        assert torch.equal(compiled(x), program(x))


METHODS = {
    "exp": (lambda x: x.exp(), lambda self: self * 5),
    "__add__": (lambda x: x + 1, lambda self, other: self * 5),
    "__radd__": (lambda x: 1 + x, lambda self, other: self * 5),
    "__gt__": (lambda x: 0 < x, lambda self, other: self * 5),
    "__neg__": (lambda x: -x, lambda self: self * 5),
    "mT": (lambda x: x.mT, property(lambda self: self * 5)),
}


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_tensors_that_are_replaced(
    name: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, other = METHODS[name]
    compiled = torch.compile(program, backend=backend)
    x = torch.ones(2, 2)
    compiled(x)
    monkeypatch.setattr(torch.Tensor, name, other)
    assert torch.equal(compiled(x), program(x))


class Hooked(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return getattr(value, "is_kind", False)


class Kind(metaclass=Hooked):
    pass


def test_hooks_behind_unions_of_classes() -> None:
    def program(x: Any, value: Any) -> Any:
        return x * 2 if isinstance(value, int | Kind) else x * 3

    compiled = torch.compile(program, backend="eager")
    x, value = torch.ones(2), _Object()
    for value.is_kind in (False, True):
        assert torch.equal(compiled(x, value), program(x, value))
