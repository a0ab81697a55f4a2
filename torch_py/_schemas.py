"""Schemas of operators as Python objects, as the dispatcher parses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch_py._schema_types import Type, type_of


@dataclass(frozen=True)
class AliasInfo:
    """The annotation of a value that shares memory: ``(a)``, or ``(a!)`` where it is written to."""

    before_set: frozenset[str]
    is_write: bool

    @property
    def after_set(self) -> frozenset[str]:
        return self.before_set


@dataclass(frozen=True)
class Argument:
    """An argument or a result; `default_text` is as the schema writes it, None without a default."""

    name: str
    type: Type
    default_text: str | None
    kwarg_only: bool
    alias_info: AliasInfo | None

    @property
    def is_write(self) -> bool:
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        return self.kwarg_only and self.is_write

    def has_default_value(self) -> bool:
        return self.default_text is not None


@dataclass(frozen=True)
class FunctionSchema:
    """``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``"""

    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    text: str

    @property
    def is_mutable(self) -> bool:
        return any(argument.is_write for argument in self.arguments)

    def __str__(self) -> str:
        return self.text


def values_of(rows: Any) -> tuple[Argument, ...]:
    """Arguments or results, from the tuples that the native module describes them by."""
    found = []
    for name, kind, default, kwarg_only, alias, written in rows:
        info = AliasInfo(frozenset(alias.split("|")), written) if alias else None
        found.append(Argument(name, type_of(kind), default, kwarg_only, info))
    return tuple(found)
