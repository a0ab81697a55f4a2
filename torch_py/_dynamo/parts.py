"""What native code looks at in nested containers: their parts, and objects that are compared by identity."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import partial
from types import MethodType, SimpleNamespace
from typing import Any

from torch_py._dynamo.attributes import is_bound
from torch_py._dynamo.origins import SCALARS
from torch_py._tensor import Tensor

_KINDS = (dict, OrderedDict)
KEYED_VIEWS: tuple[type, ...] = tuple(type(view) for d in _KINDS for view in (d().keys(), d().items()))
VIEWS: tuple[type, ...] = (*KEYED_VIEWS, *(type(kind().values()) for kind in _KINDS))


def leaves(waiting: list[Any], use: Callable[[Any], None] | None = None) -> Iterator[Any]:
    """The objects in nested containers, and in what is added to `waiting` on the way; not tensors, nor what
    is guarded by being equal. `use` is called with each, before its parts are taken."""
    seen: dict[int, Any] = {}
    while waiting:
        value = waiting.pop()
        if type(value) is slice:
            waiting += [value.start, value.stop, value.step]
        if type(value) in SCALARS or isinstance(value, Tensor) or id(value) in seen:
            continue

        seen[id(value)] = value
        if use is not None:
            use(value)
        parts = _parts_of(value)
        if parts is None:
            yield value
        else:
            waiting += parts


def _parts_of(value: Any) -> Any:
    """The elements of a container and the like; None for other objects."""
    if isinstance(value, (list, tuple)):
        return items_of(value)
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value)]
    if isinstance(value, (set, frozenset, deque, *KEYED_VIEWS)):
        return list(value)
    if isinstance(value, SimpleNamespace):
        return vars(value).values()
    if is_bound(value):
        return [value.__self__]
    if type(value) is partial:
        return [value.func, *value.args, *value.keywords.values()]
    return None


def compared_by_identity(values: list[Any]) -> list[Any]:
    """The objects in `values`, also in tuples, whose identity tells what they are equal to."""
    return [found for value in leaves(values) for found in identities(value)]


def identities(value: Any) -> list[Any]:
    """The object whose identity tells what `value` is equal to, if it does."""
    if type(value) is MethodType:
        return [value.__self__]
    return [value] if type(value).__eq__ is object.__eq__ else []


def items_of(value: list[Any] | tuple[Any, ...]) -> Any:
    """The elements, whatever `__iter__` a subclass has."""
    return tuple.__iter__(value) if isinstance(value, tuple) else list.__iter__(value)
