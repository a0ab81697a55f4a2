"""Marks for code that is scripted, which runs as Python: they say what PyTorch's compiler needs to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin

Value = TypeVar("Value")
_builtin_isinstance = isinstance


def unchanged(function: Value) -> Value:
    """Returns the function."""
    return function


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a method that is part of a scripted module, as all methods are."""
    return fn


def ignore(drop: Any = False, **options: Any) -> Any:
    """Keeps a function out of compilation, as a decorator with or without arguments: `script` returns it as
    it is."""

    def mark(function: Any) -> Any:
        function._torchscript_ignored = True
        return function

    return mark(drop) if callable(drop) else mark


def unused(fn: Any) -> Any:
    """Marks a method that scripted modules are not saved with. It can be called, as it is Python."""
    return fn


def annotate(the_type: Any, the_value: Value) -> Value:
    """Returns `the_value`; the type is for PyTorch's compiler."""
    return the_value


class Attribute(tuple):  # type: ignore[type-arg]
    """`Attribute(value, type)`, a value with a type for PyTorch's compiler."""

    def __new__(cls, value: Any, type: Any) -> Attribute:
        return super().__new__(cls, (value, type))

    value = property(lambda self: self[0])
    type = property(lambda self: self[1])


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type, which may say what containers hold:
    ``list[int]``, ``Dict[str, Tensor]``, ``Optional[int]``."""
    if _builtin_isinstance(target_type, tuple):
        return any(isinstance(obj, kind) for kind in target_type)

    origin = get_origin(target_type)
    parts = get_args(target_type)
    if origin is None:
        return _builtin_isinstance(obj, target_type)

    if not _builtin_isinstance(origin, type) or origin.__name__ in ("Union", "UnionType"):
        return any(obj is None if part is type(None) else isinstance(obj, part) for part in parts)
    if not _builtin_isinstance(obj, origin):
        return False

    if origin is dict:
        return all(isinstance(key, parts[0]) and isinstance(value, parts[1]) for key, value in obj.items())
    if origin is tuple:
        return len(obj) == len(parts) and all(isinstance(value, part) for value, part in zip(obj, parts))
    return all(isinstance(value, parts[0]) for value in obj)
