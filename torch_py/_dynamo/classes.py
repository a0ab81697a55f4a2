"""Calls of classes: new objects, and the built-in types that are used like functions."""

from __future__ import annotations

import enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import natives, special_calls
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.iteration import is_native_iterator, iterator_of, refuse_foreign
from torch_py._dynamo.native_rules import PURE_CLASSES
from torch_py._dynamo.varying import all_fixed, keeps_sizes
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def construct(capture: Capture, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    """``cls(*args, **kwargs)``."""
    special = special_calls.SPECIAL_CLASSES.get(cls)
    if special is not None:
        return special(capture, args, kwargs)
    if issubclass(cls, Tensor):
        raise Break(f"a new {cls.__name__}", "only functions of torch make tensors in a graph", "")

    meta_call = in_class(type(cls), "__call__")
    if type(meta_call) is FunctionType:
        if isinstance(cls, enum.EnumMeta):
            return cls(*args, **kwargs)
        return capture.call(meta_call, (cls, *args), kwargs)

    made = _new(capture, cls, args, kwargs)
    if isinstance(made, cls):
        _initialise(capture, cls, made, args, kwargs)
    return made


def _new(capture: Capture, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    found = in_class(cls, "__new__")
    function = found.__func__ if isinstance(found, staticmethod) else found
    if type(function) is FunctionType:
        capture.depends_on_class(cls, "__new__")
        return capture.call(function, (cls, *args), kwargs)

    owner = getattr(function, "__self__", None)
    if owner is object:
        _check_no_arguments(cls, args, kwargs)
        if getattr(cls, "__abstractmethods__", None):
            cls(*args, **kwargs)  # raises
        return capture.made(object.__new__(cls))
    if isinstance(owner, type) and (owner in PURE_CLASSES or issubclass(owner, BaseException)):
        for value in (*args, *kwargs.values()):
            capture.use(value)
            refuse_foreign(capture, value)
        args = [natives.callable_for_native(capture, value) for value in args]
        if hasattr(owner, "__next__"):  # zip, enumerate, groupby
            kwargs = {name: natives.callable_for_native(capture, value) for name, value in kwargs.items()}
            args = [iterator_of(capture, value) if _is_interpreted(value) else value for value in args]
        if capture.varying is not None and not keeps_sizes(owner):
            args = [all_fixed(capture.varying, value) for value in args]
        return capture.made(function(cls, *args, **kwargs))
    raise unsupported_call(cls.__name__, "its objects are made by native code")


def _is_interpreted(value: Any) -> bool:
    """Whether iterating over a value is up to the interpreter."""
    own = type(in_class(type(value), "__iter__")) is FunctionType
    return isinstance(value, Tensor) or (own and not is_native_iterator(value))


def _check_no_arguments(cls: type, args: Any, kwargs: dict[str, Any]) -> None:
    if (args or kwargs) and cls.__init__ is object.__init__:
        raise TypeError(f"{cls.__name__}() takes no arguments")


def _initialise(capture: Capture, cls: type, made: Any, args: Any, kwargs: dict[str, Any]) -> None:
    kind = type(made)
    method = in_class(kind, "__init__")
    if type(method) is FunctionType:
        capture.depends_on_class(kind, "__init__")
        result = capture.call(method, (made, *args), kwargs)
        if result is not None:
            raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")
    elif method is not object.__init__:
        natives.call_descriptor(capture, method, [made, *args], kwargs)
