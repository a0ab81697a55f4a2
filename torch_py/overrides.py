"""Helpers for functions that let types with `__torch_function__` take over, as operators do, and modes that
see every call of a block."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from torch_py import _C
from torch_py._overridable import ignored_functions, overridable_functions
from torch_py._tensor import Tensor
from torch_py._torch_function import _EnableTorchFunction

__all__ = [
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

_disabled_torch_function_impl = _C._disabled_torch_function_impl


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a mode, or the `__torch_function__` of an argument, takes over the call."""
    return _C._has_torch_function(tuple(relevant_args))


def has_torch_function_unary(obj: Any) -> bool:
    return _C._has_torch_function((obj,))


def has_torch_function_variadic(*values: Any) -> bool:
    return _C._has_torch_function(values)


def _get_overloaded_args(
    relevant_args: Iterable[Any], get_type_fn: Callable[[Any], type] | None = None
) -> list[Any]:
    """One argument of each type with an override: subclasses first, then from left to right."""
    type_of = get_type_fn or type
    values: list[Any] = []

    for value in relevant_args:
        if not _C._overrides_torch_function(value) or any(
            type_of(value) is type_of(other) for other in values
        ):
            continue

        place = next(
            (place for place, other in enumerate(values) if issubclass(type_of(value), type_of(other))),
            len(values),
        )
        values.insert(place, value)

    return values


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Lets the mode entered last do the call of `public_api`, or else `__torch_function__` of
    `relevant_args`.

    Raises TypeError when all of them return NotImplemented.
    """
    values = _get_overloaded_args(relevant_args)
    types = tuple(map(type, values))
    in_mode = _C._is_torch_function_mode_enabled()

    if in_mode:
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result

    for value in values:
        result = type(value).__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result

    name = f"{public_api.__module__}.{public_api.__name__}"
    asked = f"types that implement __torch_function__: {list(types)}"
    mode_text = f" nor in mode {_get_current_function_mode()}" if in_mode else ""
    raise TypeError(f"no implementation found for '{name}' on {asked}{mode_text}")


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lets a function be taken over by the arguments that `dispatcher`, called like it, returns."""
    import functools

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


# Questions about functions


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a Tensor or has `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether `func` is a method of Tensor or the getter of a property."""
    name = getattr(func, "__name__", "")
    return name == "__get__" or getattr(Tensor, name, None) is func


def resolve_name(f: Any) -> str | None:
    """Where people find a function: 'torch.Tensor.add', 'torch.Tensor.shape.__get__',
    'torch.nn.functional.linear'; None for others."""
    if isinstance(f, str):
        return f
    if type(f).__name__ in ("OpOverload", "OpOverloadPacket"):
        return str(f)
    try:
        return overridable_functions()[1].get(f)
    except TypeError:  # cannot be hashed
        return None


def get_default_nowrap_functions() -> set[Any]:
    """Getters whose results stay plain tensors in subclasses."""
    return {getattr(Tensor, name).__get__ for name in ("_base", "grad", "_grad") if hasattr(Tensor, name)}


def get_overridable_functions() -> dict[Any, list[Any]]:
    """By module, and for Tensor, the operators, methods and getters that types and modes can take over."""
    return {place: list(functions) for place, functions in overridable_functions()[0].items()}


def get_ignored_functions() -> set[Any]:
    """Functions that run without asking `__torch_function__`."""
    return set(ignored_functions())


def get_testing_overrides() -> NoReturn:
    raise NotImplementedError(
        "torch.overrides.get_testing_overrides: torch_py has no table of stand-ins for its functions"
    )


# Modes


def _push_mode(mode: TorchFunctionMode) -> None:
    _C._push_on_torch_function_stack(mode)


def _pop_mode() -> Any:
    return _C._pop_torch_function_stack()


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_function_mode_stack() -> list[Any]:
    return [_C._get_function_stack_at(place) for place in range(_C._len_torch_function_stack())]


def _get_current_function_mode() -> Any:
    """The mode that sees calls now; None outside of all."""
    modes = _get_current_function_mode_stack()
    return modes[-1] if modes else None


class TorchFunctionMode:
    """Inside of `with mode:` every call of an operator, method or property of a tensor goes to
    `mode.__torch_function__(func, types, args, kwargs)`, also when no argument is a tensor
    (`torch.zeros(3)`); what it returns is the result.

    In there the mode is not active; `with self:` makes it so. Of nested modes the inner one is asked, and its
    own calls go to the outer.
    One mode may be entered several times; threads have modes of their own.
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _enable_torch_function() -> Iterator[None]:
    with _EnableTorchFunction():
        yield


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Lets autograd record calls inside of `__torch_dispatch__`, as outside of it."""
    before = _C._set_below_autograd(0)
    try:
        yield
    finally:
        _C._set_below_autograd(before)
