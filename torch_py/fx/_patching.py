"""Replaces functions while a program is traced, so that their calls with proxies are recorded.

Operators record themselves, through `Proxy.__torch_function__`, and functions of torch in Python as
_rerouting.py says. Replaced are functions of other modules, such as `math`, and those that programs name with
`wrap`.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from torch_py.fx._rerouting import first_proxy

_ABSENT = object()


class Patches:
    """Values that are replaced in dictionaries and classes until the end of the block."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._seen: set[int] = set()

    def item(self, mapping: dict[str, Any], name: str, value: Any) -> None:
        before = mapping.get(name, _ABSENT)
        mapping[name] = value
        if before is _ABSENT:
            self._undo.append(lambda: mapping.pop(name, None))
        else:
            self._undo.append(lambda: mapping.__setitem__(name, before))

    def method(self, cls: type, name: str, value: Any) -> None:
        before = vars(cls).get(name, _ABSENT)
        setattr(cls, name, value)
        if before is _ABSENT:
            self._undo.append(lambda: delattr(cls, name))
        else:
            self._undo.append(lambda: setattr(cls, name, before))

    def visit_once(self, thing: Any) -> bool:
        """Whether this is the first question about `thing`."""
        first = id(thing) not in self._seen
        self._seen.add(id(thing))
        return first

    def __enter__(self) -> Patches:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        while self._undo:
            self._undo.pop()()


# Functions that record their calls
# ------------------------------------------------------------


def recorded(function: Callable[..., Any], *, is_wrapped: bool = False) -> Callable[..., Any]:
    """A function that records its calls with proxies, and does all others."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        proxy = first_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        if is_wrapped:
            result.node.meta["is_wrapped"] = True
        return result

    call.__fx_records__ = True  # type: ignore[attr-defined]
    return call


# wrap
# ------------------------------------------------------------

# The functions that programs marked: the globals of their modules, and their names there.
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}


def register_wrapped(namespace: dict[str, Any], name: str) -> None:
    _wrapped[id(namespace), name] = namespace


def patch_wrapped(patches: Patches) -> set[int]:
    """Lets the functions that programs marked record their calls.

    Returns the numbers of the functions: printed code has them under other names.
    """
    numbers = set()
    for (_, name), namespace in _wrapped.items():
        function = namespace.get(name, getattr(builtins, name, None))
        if function is not None and not hasattr(function, "__fx_records__"):
            patches.item(namespace, name, recorded(function, is_wrapped=True))
            numbers.add(id(function))
    return numbers


def autowrap(patches: Patches, namespace: dict[str, Any], function_ids: set[int]) -> None:
    """Lets the functions with the given numbers record their calls where they are globals of a module that is
    being traced."""
    if not patches.visit_once(namespace):
        return
    for name, value in list(namespace.items()):
        if not name.startswith("_") and callable(value) and id(value) in function_ids:
            patches.item(namespace, name, recorded(value))


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Marks a function of this module, or the name of one, as a single operation: its calls are recorded as
    calls of it, and what it does inside is not traced.

        @torch.fx.wrap
        def my_function(x): ...

        torch.fx.wrap("len")

    Call it at the top level of a module: raises NotImplementedError elsewhere, and RuntimeError for anything
    but a function or a name. Returns what it is given.
    """
    name = fn_or_name if isinstance(fn_or_name, str) else getattr(fn_or_name, "__name__", None)
    if name is None:
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")

    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    register_wrapped(caller.f_globals, name)
    return fn_or_name


# Modules
# ------------------------------------------------------------


def only_on_this_thread(replacement: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """`replacement` on the thread that traces, `original` on all others."""
    thread = threading.get_ident()

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return original(*args, **kwargs)
        return replacement(*args, **kwargs)

    return call


def members(module: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The attributes of a module and of those below it that are not parameters, buffers or modules, with
    their paths."""
    for name, value in vars(module).items():
        yield ".".join((*path, name)), value
    for name, child in module.named_children():
        yield from members(child, (*path, name))
