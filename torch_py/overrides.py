"""Helpers for functions that let types with `__torch_function__` take over, as operators do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = [
    "TorchFunctionMode", "get_default_nowrap_functions", "get_ignored_functions", "get_overridable_functions",
    "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip

_disabled_torch_function_impl = _C._disabled_torch_function_impl


def _overrides(value: Any) -> bool:
    return bool(_C._has_torch_function((value,)))


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments has a `__torch_function__` of its own."""
    return bool(_C._has_torch_function(tuple(relevant_args)))


has_torch_function_unary = _overrides


def has_torch_function_variadic(*values: Any) -> bool:
    return bool(_C._has_torch_function(values))


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Lets `__torch_function__` of `relevant_args` do the call of `public_api`: subclasses first, then from left to right.

    Raises TypeError when all of them return NotImplemented.
    """
    values: list[Any] = []
    for value in relevant_args:
        if not _overrides(value) or any(type(value) is type(other) for other in values):
            continue
        place = next((place for place, other in enumerate(values) if issubclass(type(value), type(other))), len(values))
        values.insert(place, value)
    types = tuple(map(type, values))
    for value in values:
        result = type(value).__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
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


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a Tensor or has `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether `func` is a method of Tensor or the getter of a property."""
    name = getattr(func, "__name__", "")
    return name == "__get__" or getattr(Tensor, name, None) is func


def resolve_name(f: Any) -> str | None:
    """A name for people."""
    if isinstance(f, str):
        return f
    return f"{f.__module__}.{f.__qualname__}" if hasattr(f, "__qualname__") else None


def get_default_nowrap_functions() -> set[Any]:
    """Methods whose results stay plain tensors in subclasses."""
    return {getattr(Tensor, name).__get__ for name in ("_base", "grad", "_grad") if hasattr(Tensor, name)}


def _not_listed(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.overrides.{name}: torch_py does not list the functions that can be overridden")


def get_ignored_functions() -> NoReturn:
    _not_listed("get_ignored_functions")


def get_overridable_functions() -> NoReturn:
    _not_listed("get_overridable_functions")


def get_testing_overrides() -> NoReturn:
    _not_listed("get_testing_overrides")


class TorchFunctionMode:
    """Would see every call of a block: can be subclassed, not entered (NotImplementedError)."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__}: torch_py has no modes of __torch_function__; only types can override it")

    def __exit__(self, *exception: object) -> None:
        pass


BaseTorchFunctionMode = TorchFunctionMode
