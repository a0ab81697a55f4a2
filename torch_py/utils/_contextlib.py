"""Context managers that are decorators, too."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class _DecoratorContextManager:
    """A context manager that also decorates functions and generator functions.

    Each entry uses a new instance from `clone`.
    """

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def clone(self) -> _DecoratorContextManager:
        """A new instance with the same settings."""
        return type(self)()

    def __call__(self, orig_func: F) -> F:
        return cast(F, context_decorator(self.clone, orig_func))


def context_decorator(ctx: Any, func: Any) -> Any:
    """`func` inside a context of its own for each call: what `ctx`, a function, returns, or `ctx` itself."""
    make_switch, function = (ctx if callable(ctx) else lambda: ctx), func
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only "
            "decorate functions or methods. To preserve the current behavior of class decoration, you can "
            "directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(function, make_switch)

    @functools.wraps(function)
    def decorated(*arguments: Any, **keywords: Any) -> Any:
        with make_switch():
            return function(*arguments, **keywords)

    return decorated


def _decorate_generator(function: Any, make_switch: Callable[[], Any]) -> Any:
    """Applies the switch while the generator runs, but not while its consumer does."""

    @functools.wraps(function)
    def decorated(*arguments: Any, **keywords: Any) -> Generator[Any, Any, Any]:
        generator = function(*arguments, **keywords)
        resume: Callable[[], Any] = functools.partial(next, generator)
        try:
            while True:
                try:
                    with make_switch():
                        value = resume()
                except StopIteration as finished:
                    return finished.value

                try:
                    received = yield value
                    resume = functools.partial(generator.send, received)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)
        finally:
            with make_switch():
                generator.close()

    return decorated


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """A context manager without settings: `@manager` decorates like `@manager()`."""

    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else context_decorator(cls, orig_func)
