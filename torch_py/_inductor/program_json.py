"""Values of the compiler as JSON: what `_C._compiler.Program` is made of, but tensors and libraries; what
compiled calls consist of; and what keys of the cache stand for.

Containers and everything that JSON lacks are lists with a tag: ``["dtype", "float32"]``. Reading makes what
these tags stand for, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from torch_py import _C
from torch_py._C._compiler import Slot
from torch_py._functorch.aot import recipes, traced
from torch_py._functorch.aot.forms import OnCopies, Requiring, on_copies, requiring
from torch_py._functorch.aot.runtime.calls import Parts
from torch_py._inductor.positions import InRange, in_range
from torch_py._ops import OpOverload
from torch_py._shapes.formulas import Formula, Symbol
from torch_py.fx.node import Node


class NotWrittenError(Exception):
    """A value has no form in JSON."""


def encoded(value: Any) -> Any:
    """A value as JSON has it. Raises NotWrittenError."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    for container in (list, tuple, dict):
        if isinstance(value, container):
            kind = container
    if kind is list or kind is tuple:
        return [kind.__name__, *map(encoded, value)]

    for name, constant in _CONSTANTS.items():
        if value is constant:
            return [name]
    form = _FORMS.get(kind)
    if form is None:
        raise NotWrittenError(f"a {kind.__name__}: {value!r}")
    return [kind.__name__, *map(encoded, form[0](value))]


def text_of(value: Any) -> str:
    """A value, nodes included, as text: different for different values.

    Raises NotWrittenError for values whose text would not say all.
    """
    return json.dumps(encoded(value))


def decoded(value: Any) -> Any:
    """The value that `encoded` has written. Raises ValueError for anything else."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is not list or not value:
        raise ValueError(f"not a value of a program: {value!r}")

    tag = value[0]
    parts = [part if type(part) in _PLAIN else decoded(part) for part in value[1:]]
    if tag == "tuple":  # the first two are most of them
        return tuple(parts)
    if tag == "list":
        return parts
    if type(tag) is not str or tag not in _READERS:
        raise ValueError(f"not a value of a program: {value!r}")
    return _READERS[tag](*parts)


_PLAIN = frozenset({bool, int, str, type(None)})
_CONSTANTS = {"int": int, "strided": recipes.strided, "...": ...}


def _fields_of(value: Any) -> list[Any]:
    return [getattr(value, name) for name in value._fields]


def _name_in_native(value: Any) -> tuple[str]:
    return (str(value).removeprefix("torch."),)


def _named(kind: type) -> Callable[[str], Any]:
    @cache
    def read(name: str) -> Any:
        found = getattr(_C, name, None)
        if not isinstance(found, kind):
            raise ValueError(f"{name} is not a {kind.__name__}")
        return found

    return read


def _entry_of(value: OpOverload) -> tuple[str]:
    if _C._find_operator(value._entry_name) is not value:
        raise NotWrittenError(f"another operator than {value._entry_name}")
    return (value._entry_name,)


def _operator(name: str) -> Any:
    found = _C._find_operator(name)
    if found is None:
        raise ValueError(f"there is no operator {name}")
    return found


def _unreadable(*parts: Any) -> Any:
    raise ValueError("a part of a key, which no program has")


_RECORDS: tuple[Any, ...] = (
    Parts, recipes.Argument, recipes.Computed, recipes.Constant, recipes.InputOfGraph, recipes.OnInput,
    recipes.Same, recipes.Step, recipes.Viewed, recipes.Base, recipes.Memory, recipes.Own, traced.Change,
    traced.Reshaping, Formula,
)  # fmt: skip
# The parts of a value of each class, and what makes the value of them.
_FORMS: dict[Any, tuple[Callable[[Any], Any], Callable[..., Any]]] = {
    float: (lambda value: (value.hex(),), float.fromhex),
    complex: (lambda value: (value.real, value.imag), complex),
    slice: (lambda value: (value.start, value.stop, value.step), slice),
    dict: (dict.items, lambda *pairs: dict(pairs)),
    Slot: (lambda value: (value.number,), Slot),
    _C.device: (lambda value: (str(value),), cache(_C.device)),
    **{kind: (_name_in_native, _named(kind)) for kind in (_C.dtype, _C.layout, _C.memory_format)},
    OpOverload: (_entry_of, _operator),
    Requiring: (lambda value: (value.operator, value.positions), requiring),
    OnCopies: (lambda value: (value.operator,), on_copies),
    InRange: (lambda value: (value.name,), in_range),
    Node: (lambda value: (value.name,), _unreadable),
    Symbol: (lambda value: (value.name, value.min, value.max, value.samples), _unreadable),
    **{kind: (_fields_of, kind) for kind in _RECORDS},
}
_READERS: dict[str, Callable[..., Any]] = {
    **{kind.__name__: read for kind, (_, read) in _FORMS.items()},
    **{name: lambda value=value: value for name, value in _CONSTANTS.items()},
}
