"""Small entries of the cache: values as JSON; and what all keys depend on.

Values are what `_C._compiler.Program` is made of, but tensors and libraries; what compiled calls consist of;
and parts of keys. Containers and everything that JSON lacks are lists with a tag: ``["dtype", "float32"]``.
Reading makes what these tags stand for, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from torch_py import _C, _logging
from torch_py._C._compiler import Slot
from torch_py._functorch.aot import recipes
from torch_py._functorch.aot.nodes import InRange, OnCopies, Requiring, in_range, on_copies, requiring
from torch_py._functorch.aot.runtime import Parts
from torch_py._inductor import config
from torch_py._inductor.cache import Cache
from torch_py._inductor.compile_cpp import find_compiler, identity
from torch_py._ops import OpOverload
from torch_py._records import Record
from torch_py._shapes.formulas import Formula, Symbol
from torch_py.autograd.graph import increment_version
from torch_py.fx.node import Node
from torch_py.version import __version__

log = _logging.topic("cache")

Used = TypeVar("Used")


class NotWrittenError(Exception):
    """A value has no form in JSON."""


def encoded(value: Any) -> Any:
    """A value as JSON has it. Raises NotWrittenError."""
    if type(value) in _PLAIN:
        return value
    kind = next((container for container in (list, tuple, dict) if isinstance(value, container)), type(value))
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
_CONSTANTS: dict[str, Any] = {
    "int": int,
    "strided": recipes.strided,
    "...": ...,
    "getitem": operator.getitem,
    "increment_version": increment_version,
}


def _name_of(value: Any) -> tuple[str]:
    return (str(value).removeprefix("torch."),)


@cache
def _native(kind: type, name: str) -> Any:
    found = getattr(_C, name, None)
    if not isinstance(found, kind):
        raise ValueError(f"{name} is not a {kind.__name__}")
    return found


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
    Parts, recipes.Computed, recipes.Constant, recipes.InputOfGraph, recipes.OnInput,
    recipes.Same, recipes.Step, recipes.Viewed, recipes.Base, recipes.Memory, recipes.Own, recipes.Change,
    recipes.Reshaping, Formula,
)  # fmt: skip
# The parts of a value of each class, and what makes the value of them.
_FORMS: dict[Any, tuple[Callable[[Any], Any], Callable[..., Any]]] = {
    float: (lambda value: (value.hex(),), float.fromhex),
    complex: (lambda value: (value.real, value.imag), complex),
    slice: (lambda value: (value.start, value.stop, value.step), slice),
    dict: (dict.items, lambda *pairs: dict(pairs)),
    frozenset: (sorted, lambda *items: frozenset(items)),
    Slot: (lambda value: (value.number,), Slot),
    _C.device: (lambda value: (str(value),), cache(_C.device)),
    **{kind: (_name_of, partial(_native, kind)) for kind in (_C.dtype, _C.layout, _C.memory_format)},
    OpOverload: (_entry_of, _operator),
    Requiring: (lambda value: (value.operator, value.positions), requiring),
    OnCopies: (lambda value: (value.operator,), on_copies),
    InRange: (lambda value: (value.name,), in_range),
    Node: (lambda value: (value.name,), _unreadable),
    Symbol: (lambda value: (value.name, value.min, value.max, value.samples), _unreadable),
    **{kind: (Record._values, kind) for kind in _RECORDS},
}
_READERS: dict[str, Callable[..., Any]] = {
    **{kind.__name__: read for kind, (_, read) in _FORMS.items()},
    **{name: lambda value=value: value for name, value in _CONSTANTS.items()},
}


# Entries
# ------------------------------------------------------------


def read_entry(key: str, suffix: str, use: Callable[[Any], Used | None]) -> Used | None:
    """What `use` makes of the value that was kept under a key.

    None if the cache has no such entry, if it is damaged, or if `use` raises an error or returns None.
    """
    content = Cache.opened().read(key, suffix)
    if content is None:
        return None
    try:
        return use(decoded(json.loads(content)))
    except (OSError, ValueError, TypeError, RuntimeError) as problem:
        log.info("an entry cannot be used: %s", problem)
        return None


def write_entry(key: str, suffix: str, value: Any) -> None:
    """Keeps a value under a key, if it can be written."""
    try:
        Cache.opened().write(key, suffix, json.dumps(encoded(value)).encode())
    except (OSError, NotWrittenError) as problem:
        log.info("%s: an entry is not kept: %s", suffix, problem)


# Keys
# ------------------------------------------------------------


def key_of_parts(*parts: str) -> str:
    """The key for some text, with these settings, this C++ compiler and this build of the library.

    Raises NoCompilerError.
    """
    settings = repr(sorted(config._data().items(), key=lambda item: item[0]))
    every = [*parts, *identity(find_compiler()), settings, __version__, _build()]
    return hashlib.sha256("\0".join(every).encode()).hexdigest()


@cache
def _build() -> str:
    """The files of the library, by size and time of the last change."""
    return repr(sorted(_files(str(Path(__file__).parent.parent))))


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """The modules and shared libraries below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".so")):
                facts = entry.stat()
                yield entry.path, facts.st_size, facts.st_mtime_ns
            elif "." not in entry.name and entry.name not in _OTHERS and entry.is_dir():
                yield from _files(entry.path)


# Folders without modules that are imported.
_OTHERS = frozenset({"__pycache__", "csrc", "include"})
