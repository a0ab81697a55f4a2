"""Schemas of operators as Python objects, as the dispatcher parses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from torch_py._records import Record
from torch_py._schema_types import Type, type_of


class AliasInfo(Record):
    """The annotation of a value that shares memory: ``(a)``, or ``(a!)`` where it is written to."""

    __slots__ = _fields = ("before_set", "is_write")

    def __init__(self, before_set: frozenset[str], is_write: bool) -> None:
        self.before_set = before_set
        self.is_write = is_write

    @property
    def after_set(self) -> frozenset[str]:
        return self.before_set


class Argument(Record):
    """An argument or a result; `default_text` is as the schema writes it, None without a default."""

    __slots__ = ("alias_info", "default_text", "is_write", "kwarg_only", "name", "type")
    _fields = ("name", "type", "default_text", "kwarg_only", "alias_info")

    def __init__(
        self,
        name: str,
        type: Type,
        default_text: str | None,
        kwarg_only: bool,
        alias_info: AliasInfo | None,
    ) -> None:
        self.name = name
        self.type = type
        self.default_text = default_text
        self.kwarg_only = kwarg_only
        self.alias_info = alias_info
        self.is_write = alias_info is not None and alias_info.is_write

    @property
    def is_out(self) -> bool:
        return self.kwarg_only and self.is_write

    def has_default_value(self) -> bool:
        return self.default_text is not None

    @property
    def default(self) -> Any:
        """The default as a value of Python, None without one; the text of a name, such as `long`."""
        return _value_of(self.default_text)


class FunctionSchema(Record):
    """``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``"""

    __slots__ = ("arguments", "is_mutable", "name", "overload_name", "returns", "text")
    _fields = ("name", "overload_name", "arguments", "returns", "text")

    def __init__(
        self,
        name: str,
        overload_name: str,
        arguments: tuple[Argument, ...],
        returns: tuple[Argument, ...],
        text: str,
    ) -> None:
        self.name = name
        self.overload_name = overload_name
        self.arguments = arguments
        self.returns = returns
        self.text = text
        self.is_mutable = any(argument.is_write for argument in arguments)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, those that are missing with their defaults."""
        bound = {argument.name: argument.default for argument in self.arguments}
        return {**bound, **dict(zip(bound, args)), **kwargs}

    def __str__(self) -> str:
        return self.text


@cache
def _value_of(default: str | None) -> Any:
    if default in _CONSTANTS:
        return _CONSTANTS[default]
    assert default is not None
    if default.startswith("["):
        return [int(number) for number in default[1:-1].split(",") if number]
    for kind in (int, float):
        try:
            return kind(default)
        except ValueError:
            pass
    return default.strip("'\"")


_CONSTANTS = {None: None, "None": None, "True": True, "False": False}


def values_of(rows: Any) -> tuple[Argument, ...]:
    """Arguments or results, from the tuples that the native module describes them by."""
    found = []
    for name, kind, default, kwarg_only, alias, written in rows:
        info = AliasInfo(frozenset(alias.split("|")), written) if alias else None
        found.append(Argument(name, type_of(kind), default, kwarg_only, info))
    return tuple(found)
