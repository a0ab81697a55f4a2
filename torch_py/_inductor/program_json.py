"""Descriptions of programs as JSON: what `_C._compiler.Program` is made of, but tensors and libraries; and
what compiled calls consist of.

Containers and everything that JSON lacks are lists with a tag: ``["dtype", "float32"]``. Reading makes what
these tags stand for, and nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from torch_py import _C
from torch_py._C._compiler import Slot
from torch_py._functorch.aot import recipes, sources, traced
from torch_py._functorch.aot.forms import OnCopies, Requiring, on_copies, requiring
from torch_py._functorch.aot.runtime.parts import Parts
from torch_py._inductor.positions import InRange, in_range
from torch_py._ops import OpOverload

_RECORDS: tuple[Any, ...] = (
    Parts, recipes.Argument, recipes.Computed, recipes.Constant, recipes.InputOfGraph, recipes.OnInput,
    recipes.Same, recipes.Viewed, sources.Base, sources.Memory, sources.Own, traced.Change, traced.Reshaping,
)  # fmt: skip
_NAMED = {"dtype": _C.dtype, "layout": _C.layout, "memory_format": _C.memory_format}


class NotWrittenError(Exception):
    """A value has no form in JSON."""


def encoded(value: Any) -> Any:
    """A value of a description as JSON has it. Raises NotWrittenError."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    for container in (list, tuple):
        if isinstance(value, container):
            return [container.__name__, *map(encoded, value)]
    if isinstance(value, dict):
        return ["dict", *([encoded(key), encoded(item)] for key, item in value.items())]
    if kind is float:
        return ["float", value.hex()]
    if kind is Slot:
        return ["Slot", value.number]
    if kind is _C.device:
        return ["device", str(value)]
    if value is int:
        return ["int"]
    if value is recipes.strided:
        return ["strided"]
    if kind in _RECORDS:
        return [kind.__name__, *map(encoded, value._values())]
    if kind is recipes.Step:
        return ["Step", *(encoded(getattr(value, name)) for name in _OF_STEP)]

    for name, named in _NAMED.items():
        if kind is named:
            return [name, str(value).removeprefix("torch.")]
    return _encoded_operator(value)


def _encoded_operator(value: Any) -> Any:
    if isinstance(value, Requiring):
        return ["requiring", _encoded_operator(value.operator), list(value.positions)]
    if isinstance(value, OnCopies):
        return ["on_copies", _encoded_operator(value.operator)]
    if isinstance(value, InRange):
        return ["in_range", value.name]
    if isinstance(value, OpOverload) and _C._find_operator(value._entry_name) is value:
        return ["operator", value._entry_name]
    raise NotWrittenError(f"a {type(value).__name__}: {value!r}")


def decoded(value: Any) -> Any:
    """The value that `encoded` has written. Raises ValueError for anything else."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is not list or not value:
        raise ValueError(f"not a value of a program: {value!r}")

    tag = value[0]
    if tag == "tuple":  # the first two are most of them
        return tuple([part if type(part) in _PLAIN else decoded(part) for part in value[1:]])
    if tag == "list":
        return [part if type(part) in _PLAIN else decoded(part) for part in value[1:]]
    if type(tag) is not str or tag not in _READERS:
        raise ValueError(f"not a value of a program: {value!r}")
    return _READERS[tag](*value[1:])


_PLAIN = frozenset({bool, int, str, type(None)})


@cache
def _named(kind: str, name: str) -> Any:
    found = getattr(_C, name, None)
    if not isinstance(found, _NAMED[kind]):
        raise ValueError(f"{name} is not a {kind}")
    return found


def _operator(name: str) -> Any:
    found = _C._find_operator(name)
    if found is None:
        raise ValueError(f"there is no operator {name}")
    return found


def _record(kind: Any, items: Any) -> Any:
    return kind(*map(decoded, items))


_OF_STEP = ("target", "args", "kwargs", "index", "without_grad", "retypes")
_READERS: dict[str, Any] = {
    **{kind.__name__: lambda *items, kind=kind: _record(kind, items) for kind in (*_RECORDS, recipes.Step)},
    "dict": lambda *pairs: {decoded(key): decoded(item) for key, item in pairs},
    "float": float.fromhex,
    "Slot": Slot,
    "device": cache(_C.device),
    "int": lambda: int,
    "strided": lambda: recipes.strided,
    "dtype": lambda name: _named("dtype", name),
    "layout": lambda name: _named("layout", name),
    "memory_format": lambda name: _named("memory_format", name),
    "operator": _operator,
    "requiring": lambda operator, positions: requiring(decoded(operator), tuple(positions)),
    "in_range": in_range,
    "on_copies": lambda operator: on_copies(decoded(operator)),
}
