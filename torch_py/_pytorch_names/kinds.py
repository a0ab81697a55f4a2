"""What rows of the table are made of: each function returns a piece, which makes names for a module.

A function is given as its signature, `"mark_static(t, index=None)"`, so that wrong calls of it raise the
TypeError that a written function would raise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from torch_py._pytorch_names.devices import fill
from torch_py._pytorch_names.packages import absent_names

Piece = Callable[[str], dict[str, Any]]  # from the name of a module to names and values in it


@dataclass(frozen=True)
class Row:
    """One module: its docstring, and either the pieces that it consists of or its file in modules/."""

    doc: str = ""
    pieces: tuple[Piece, ...] = ()
    file: str = ""


def names(doc: str, *pieces: Piece) -> Row:
    """A module without code of its own."""
    return Row(doc, pieces)


def file(stem: str) -> Row:
    """A module with code of its own, in modules/."""
    return Row(file=stem)


def device(kind: str, error: type[Exception]) -> Piece:
    """The functions that ask about a kind of device, or request one. Requests raise `error`."""

    def make(module: str) -> dict[str, Any]:
        made: dict[str, Any] = {"__name__": module}
        fill(made, kind, error)
        return made

    return make


def anything(why: str) -> Piece:
    """Every public name, as a class that raises NotImplementedError, saying `why`, when it is used."""
    return lambda module: {"__getattr__": absent_names(module, why)}


def answers(value: Any, *signatures: str) -> Piece:
    """Functions that return `value`."""
    return lambda module: {name: _function(module, each, lambda: value) for name, each in _named(signatures)}


def refuses(error: type[Exception], text: str, *signatures: str) -> Piece:
    """Functions that raise `error` with `text`, where {name} is replaced by the function's name."""

    def refusal(name: str) -> Callable[[], NoReturn]:
        def refuse() -> NoReturn:
            raise error(text.format(name=name))

        return refuse

    def make(module: str) -> dict[str, Any]:
        made = {name: _function(module, each, refusal(name)) for name, each in _named(signatures)}
        for function in made.values():
            function.__refuses__ = True  # read by tools.names
        return made

    return make


def blocks(*names: str) -> Piece:
    """Context managers without arguments and without effect."""

    def effectless() -> Iterator[None]:
        yield

    def make(module: str) -> dict[str, Any]:
        return {name: _named_as(contextmanager(effectless), name, module) for name in names}

    return make


def values(**constants: Any) -> Piece:
    """Constants."""
    return lambda module: dict(constants)


def exceptions(base: str, *names: str) -> Piece:
    """Exceptions: `base`, a RuntimeError, and others below it."""

    def make(module: str) -> dict[str, Any]:
        root = type(base, (RuntimeError,), {"__module__": module})
        return {base: root, **{name: type(name, (root,), {"__module__": module}) for name in names}}

    return make


def settings(**defaults: Any) -> Piece:
    """Settings that programs change, and `patch`, which changes them inside a block or a function."""

    def make(module: str) -> dict[str, Any]:
        def current() -> dict[str, Any]:
            return {name: getattr(sys.modules[module], name) for name in defaults}

        @contextmanager
        def patch(changes: Any = None, value: Any = None, **more: Any) -> Iterator[None]:
            wanted = {changes: value} if isinstance(changes, str) else {**(changes or {}), **more}
            namespace = vars(sys.modules[module])
            before = {name: namespace[name] for name in wanted if name in namespace}
            namespace.update(wanted)
            try:
                yield
            finally:
                for name in wanted:
                    del namespace[name]
                namespace.update(before)

        functions = {"patch": patch, "get_config_copy": current, "shallow_copy_dict": current}
        return {**defaults, **{name: _named_as(each, name, module) for name, each in functions.items()}}

    return make


def same_as(source: str, *names: str, **renamed: str) -> Piece:
    """Names that another module of torch_py has too; without `names` all of its `__all__`. `renamed` have
    another name there."""

    def make(module: str) -> dict[str, Any]:
        found = import_module(f"torch_py.{source}")
        sources = {name: name for name in names or found.__all__} | renamed
        return {name: getattr(found, source) for name, source in sources.items()}

    return make


def also(**aliases: str) -> Piece:
    """Modules of torch_py under a name in this one."""
    return lambda module: {name: import_module(f"torch_py.{source}") for name, source in aliases.items()}


def _named(signatures: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(signature.partition("(")[0], signature) for signature in signatures]


def _function(module: str, signature: str, act: Callable[[], Any]) -> Any:
    name, _, parameters = signature.removesuffix(")").partition("(")
    function = eval(f"lambda {parameters}: act()", {"act": act})  # the signatures are constants of the table
    return _named_as(function, name, module)


def _named_as(function: Any, name: str, module: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    return function
