"""Calls of classes: new objects, and the built-in types that are used like functions."""

from __future__ import annotations

import enum
import itertools
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import natives
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.iteration import is_native_iterator, iterator_of, refuse_foreign
from torch_py._dynamo.native_numbers import all_fixed, keeps_sizes
from torch_py._dynamo.native_rules import PURE_CLASSES
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def construct(capture: Capture, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    """``cls(*args, **kwargs)``."""
    if issubclass(cls, Tensor):
        raise Break(f"a new {cls.__name__}", "only functions of torch make tensors in a graph")

    meta_call = in_class(type(cls), "__call__")
    if type(meta_call) is FunctionType:
        if isinstance(cls, enum.EnumMeta):
            return cls(*args, **kwargs)
        return capture.call(meta_call, (cls, *args), kwargs)
    capture.depends_on_absence(type(cls), "__call__")

    made = _new(capture, cls, args, kwargs)
    if isinstance(made, cls):
        _initialise(capture, made, args, kwargs)
    return made


def _new(capture: Capture, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    found = in_class(cls, "__new__")
    function = found.__func__ if isinstance(found, staticmethod) else found
    if type(function) is FunctionType:
        capture.depends_on_class(cls, "__new__")
        return capture.call(function, (cls, *args), kwargs)
    capture.depends_on_absence(cls, "__new__")
    return new_natively(capture, function, cls, args, kwargs)


def new_natively(capture: Capture, function: Any, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    """What the ``__new__`` of a built-in type makes."""
    owner = getattr(function, "__self__", None)
    if owner is object:
        return capture.made(object.__new__(cls, *args, **kwargs))
    if isinstance(owner, type) and (owner in PURE_CLASSES or issubclass(owner, BaseException)):
        for value in (*args, *kwargs.values()):
            capture.use(value)
            refuse_foreign(capture, value)

        if owner in _CALLED:
            args, kwargs = _with_called(capture, owner, args, kwargs)
        elif owner in _LOOKING:
            capture.use_fields(*args[_LOOKING[owner] :])

        if issubclass(owner, dict):  # which may call them, unlike partial
            args = [natives.callable_for_native(capture, value) for value in args]
        if hasattr(owner, "__next__"):  # zip, enumerate, chain
            args = [iterator_of(capture, value) if _is_interpreted(value) else value for value in args]
        if not keeps_sizes(owner):
            args = [all_fixed(capture.varying, value) for value in args]
        capture.acts()
        return capture.made(function(cls, *args, **kwargs))
    raise unsupported_call(cls.__name__, "its objects are made by native code")


# Classes that look at the objects which they are given, from which argument on.
_LOOKING: dict[Any, int] = {
    **dict.fromkeys((range, bytes, bytearray), 0),
    **dict.fromkeys((enumerate, itertools.compress, itertools.islice, itertools.repeat), 1),
}
# Iterators that call a function: the position and the name of that argument.
_CALLED: dict[Any, tuple[int, str]] = {
    **dict.fromkeys((map, filter, itertools.starmap, itertools.takewhile), (0, "")),
    **dict.fromkeys((itertools.dropwhile, itertools.filterfalse), (0, "")),
    itertools.accumulate: (1, "func"),
    itertools.groupby: (1, "key"),
}


def _with_called(capture: Capture, owner: type, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of an iterator with a function that is interpreted.

    What a native function is called with is looked at now: it may call special methods.
    """
    position, name = _CALLED[owner]
    given = args[position] if len(args) > position else kwargs.get(name)
    is_read = owner not in (map, itertools.starmap, itertools.accumulate)
    function = natives.called_natively(capture, given, is_read)
    if function is given:
        capture.use_fields(*args)
    args = [function if at == position else value for at, value in enumerate(args)]
    return args, {key: function if key == name else value for key, value in kwargs.items()}


def _is_interpreted(value: Any) -> bool:
    """Whether iterating over a value is up to the interpreter."""
    own = type(in_class(type(value), "__iter__")) is FunctionType
    return isinstance(value, Tensor) or (own and not is_native_iterator(value))


def _initialise(capture: Capture, made: Any, args: Any, kwargs: dict[str, Any]) -> None:
    kind = type(made)
    method = in_class(kind, "__init__")
    if type(method) is FunctionType:
        capture.depends_on_class(kind, "__init__")
        result = capture.call(method, (made, *args), kwargs)
        if result is not None:
            raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")
        return
    capture.depends_on_absence(kind, "__init__")
    if method is not object.__init__:
        natives.call_descriptor(capture, method, [made, *args], kwargs)
