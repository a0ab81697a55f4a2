"""What rows of the table are made of: each function returns a piece, which makes names for a module.

A function is given as its signature, `"mark_static(t, index=None)"`, so that wrong calls of it raise the
TypeError that a written function would raise.
"""

from __future__ import annotations

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

    return lambda module: {name: _function(module, each, refusal(name)) for name, each in _named(signatures)}


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


def same_as(source: str, *names: str) -> Piece:
    """Names that another module of torch_py has too; without `names` all of its `__all__`."""

    def make(module: str) -> dict[str, Any]:
        found = import_module(f"torch_py.{source}")
        return {name: getattr(found, name) for name in names or found.__all__}

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
