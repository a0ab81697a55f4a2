"""Marks on functions, which the compiler reads: they are set without it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from torch_py.nn.modules.module import Module

Function = TypeVar("Function", bound=Callable[..., Any])

# Functions that are nodes of graphs as a whole, and functions that replace others while programs are
# captured.
in_graph: set[Any] = set()
substitutes: dict[Any, Callable[..., Any]] = {}


def check_callable(fn: Any, name: str) -> None:
    if not callable(fn):
        raise AssertionError(f"{name}: expected a callable, got {type(fn).__name__}")


def allow_in_graph(fn: Any) -> Any:
    """`fn`, a function or a list of them, becomes one node of a graph: what it does is not looked at.

    It has to compute tensors of its arguments, and do nothing else. Raises AssertionError unless it is
    callable.
    """
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(one) for one in fn]
    check_callable(fn, "allow_in_graph")
    in_graph.add(fn)
    return fn


def disallow_in_graph(fn: Any) -> Any:
    """Ends the graph at calls of `fn`, a function or a list of them. Raises AssertionError as
    `allow_in_graph`."""
    if isinstance(fn, (list, tuple)):
        return [disallow_in_graph(one) for one in fn]
    check_callable(fn, "disallow_in_graph")
    in_graph.discard(fn)
    broken.add(fn)
    return fn


broken: set[Any] = set()
constants: set[Any] = set()


def assume_constant_result(fn: Function) -> Function:
    """Calls of `fn` while a program is captured run as they are, and their results count as constants.

    Raises AssertionError unless it is callable.
    """
    check_callable(fn, "assume_constant_result")
    constants.add(fn)
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that is not captured: a graph ends where it is called, and begins anew after it.

    Also a decorator, with or without arguments. With `recursive`, what it calls is not captured either;
    without, functions that it calls can be compiled. A Module is returned with its `forward` marked. `reason`
    appears in messages.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    check_callable(fn, "disable")
    if isinstance(fn, Module):
        fn.forward = disable(fn.forward, recursive, reason=reason)  # type: ignore[method-assign]
        return fn
    if isinstance(fn, type):
        fn.__init__ = disable(fn.__init__, recursive, reason=reason)  # type: ignore[misc]
        return fn
    return _disabled(getattr(fn, "_torchdynamo_orig_callable", fn), reason)


def _disabled(function: Callable[..., Any], reason: str | None) -> FunctionType:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    run._torchdynamo_disable = True  # type: ignore[attr-defined]
    run._torchdynamo_disable_msg = reason  # type: ignore[attr-defined]
    run._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def substitute_in_graph(
    original_fn: Callable[..., Any],
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
    is_embedded_type: bool = False,
) -> Callable[[Function], Function]:
    """Decorator of a function of Python that is captured in place of `original_fn`, which C computes.

    Raises TypeError unless both are functions, and ValueError if `original_fn` has a substitute already.
    """
    if not callable(original_fn):
        raise TypeError(f"substitute_in_graph expects a function but got {type(original_fn)!r}")

    def register(function: Function) -> Function:
        if not isinstance(function, FunctionType):
            raise TypeError(f"@substitute_in_graph(...) expects a function but got {type(function)!r}")
        if original_fn in substitutes:
            raise ValueError(f"Duplicate polyfill function for {original_fn}")
        substitutes[original_fn] = function
        return function

    return register
