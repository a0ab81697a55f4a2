"""Arguments of a call as the slots of a frame, by the rules of Python; and frames of class bodies."""

from __future__ import annotations

import enum
import types
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.decode.instructions import VARKEYWORDS, parameter_names, signature_of
from torch_py._dynamo.frame import UNBOUND, Frame

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def bind(capture: Capture, function: FunctionType, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The values of the parameters in the order of co_varnames. Raises TypeError as a call does."""
    code = function.__code__
    binder = FunctionType(_binder(code), {}, argdefs=(UNBOUND,) * len(function.__defaults__ or ()))
    binder.__kwdefaults__ = dict.fromkeys(function.__kwdefaults__ or (), UNBOUND)
    binder.__qualname__ = function.__qualname__
    slots: list[Any] = binder(*args, **kwargs)

    for position, value in enumerate(slots):
        if value is UNBOUND:
            slots[position] = _default(capture, function, position)
    if code.co_flags & VARKEYWORDS:
        capture.made(slots[-1])
    return slots


@lru_cache(maxsize=2048)
def _binder(code: CodeType) -> CodeType:
    """Code with the same parameters, which returns their values."""
    names = [name.replace(".", "implicit") for name in parameter_names(code)]  # as a signature does
    parameters = str(signature_of(code))[1:-1]
    return eval(f"lambda {parameters}: [{', '.join(names)}]").__code__  # type: ignore[no-any-return]


def _default(capture: Capture, function: FunctionType, position: int) -> Any:
    """The default of a parameter, which has one."""
    code = function.__code__
    if position < code.co_argcount:
        defaults = capture.read_native(function, "__defaults__")
        return capture.read_item(defaults, position - code.co_argcount + len(defaults))
    return capture.read_key(capture.read_native(function, "__kwdefaults__"), code.co_varnames[position])


def fill_closure(capture: Capture, frame: Frame, function: FunctionType) -> None:
    cells = function.__closure__ or ()
    first = len(frame.locals) - len(cells)
    frame.locals[first:] = cells
    origin = capture.origin_of(function)
    for position, cell in enumerate(cells):
        if capture.is_new(cell) or capture.origin_of(cell) is not None:
            continue
        if origin is None or origin.kind == "constant":
            capture.fixed(cell, function.__code__.co_freevars[position])
        else:
            whole = capture.sources.attr(origin, "__closure__")
            capture.admit(cell, capture.sources.item(whole, position))


def build_class(capture: Capture, body: Any, name: str, /, *bases: Any, **kwargs: Any) -> Any:
    """``__build_class__(body, name, *bases, metaclass=None, **keywords)``."""
    kinds = [kwargs.get("metaclass", type), *map(type, bases)]
    if any(kind.__module__ not in _LIBRARY for kind in kinds):
        raise _told(name)

    resolved = types.resolve_bases(bases)
    meta, namespace, keywords = types.prepare_class(name, resolved, kwargs)
    if resolved != bases:
        namespace["__orig_bases__"] = bases

    frame = Frame(capture, body.__code__, body.__globals__)
    frame.names = namespace
    fill_closure(capture, frame, body)
    frame.run()
    if _runs_code(resolved, namespace):
        raise _told(name)
    return capture.made(meta(name, resolved, namespace, **keywords))


def _told(name: str) -> Break:
    why = "code of the program runs where it is made"
    return unsupported_call(f"class statement ({name})", why)


def _runs_code(bases: Any, namespace: dict[str, Any]) -> bool:
    """Whether bases, or what a class contains, are told of it, or its members are made by the program."""
    hooks = [getattr(base, "__init_subclass__", None) for base in bases]
    hooks += [getattr(type(value), "__set_name__", None) for value in namespace.values()]
    if any(isinstance(base, enum.EnumMeta) for base in bases):
        own = [vars(kind) for base in bases for kind in base.__mro__ if kind.__module__ not in _LIBRARY]
        hooks += [part[word] for part in (namespace, *own) for word in _OF_MEMBERS if word in part]
    return not all(hook is None or _is_of_library(hook) for hook in hooks)


def _is_of_library(hook: Any) -> bool:
    if isinstance(hook, (FunctionType, types.MethodType)):
        return hook.__module__ in _LIBRARY
    return isinstance(hook, (types.BuiltinFunctionType, types.MethodDescriptorType))


_LIBRARY = frozenset({"abc", "builtins", "enum", "functools", "typing"})
_OF_MEMBERS = ("__init__", "__new__", "_generate_next_value_", "_missing_")
