"""The operators behind Python callables: structure and arguments, as their entries declare them."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FOLDERS = (
    Path(__file__).parents[1] / "_generated",
    Path(__file__).parents[2] / "build" / "generated" / "torch_py" / "_generated",
)


@dataclass(frozen=True)
class Operator:
    """One overload."""

    name: str  # with overload: sum.dim_IntList
    structure: str
    arguments: tuple[tuple[str, str, str | None], ...]  # (name, type, default) as in the schema
    is_random: bool
    is_factory: bool
    is_inplace_view: bool  # changes the geometry of its argument, not the elements
    is_along_dim: bool  # acts along its `dim`; the other dimensions are a batch

    def position(self, argument: str) -> int | None:
        return next((i for i, (name, *_) in enumerate(self.arguments) if name == argument), None)

    def default(self, argument: str) -> int | None:
        """Of an integer argument; None when that, or nothing, is the default."""
        found = next((value for name, _, value in self.arguments if name == argument), None)
        return int(found) if found is not None and found.lstrip("-").isdigit() else None


@functools.cache
def rows_of_entries() -> list[dict[str, Any]]:
    """What the entries of all operators declare, as the generator has written it."""
    path = next(folder / "operators.json" for folder in _FOLDERS if (folder / "operators.json").exists())
    rows: list[dict[str, Any]] = json.loads(path.read_text())["operators"]
    return rows


@functools.cache
def _table() -> dict[str, tuple[Operator, ...]]:
    """By Python name, in every module."""
    found: dict[str, tuple[Operator, ...]] = {}

    for row in rows_of_entries():
        arguments = tuple((name, kind, default) for name, kind, default in row["arguments"])
        operator = Operator(
            row["name"],
            row["structure"],
            arguments,
            row["is_random"],
            row["is_factory"],
            "inplace_view" in row["tags"],
            row["structure"] == "reduction" or "along_dim" in row["tags"],
        )

        names = [
            row["base_name"].removeprefix(f"{row['python_module']}_"),
            *(alias.rpartition(".")[2] for alias in row["aliases"]),
        ]
        for name in names:
            found[name] = (*found.get(name, ()), operator)

    return found


@dataclass(frozen=True)
class Call:
    """What was called: `x.add_(y)` has the name add and is in place."""

    name: str
    is_inplace: bool
    is_property: bool
    overloads: tuple[Operator, ...]

    @property
    def is_inplace_view(self) -> bool:
        return bool(self.overloads) and all(o.is_inplace_view for o in self.overloads)

    @property
    def structure(self) -> str:
        """The one that all overloads share, else nothing."""
        found = {o.structure for o in self.overloads}
        return found.pop() if len(found) == 1 else ""

    def argument(self, args: Any, kwargs: Any, *names: str) -> Any:
        """The value given for an argument of one of these names; None if the call lacks it."""
        for name in names:
            if name in kwargs:
                return kwargs[name]
            places = {o.position(name) for o in self.overloads} - {None}
            for place in places:
                if place < len(args):
                    return args[place]
        return None

    def with_longer_size(self, args: Any, kwargs: Any, first: int) -> tuple[Any, Any] | None:
        """The same arguments but for `size`, which gets one more dimension in
        front; None for operators that are told no size."""
        if "size" in kwargs:
            return args, {**kwargs, "size": (first, *kwargs["size"])}
        places = sorted({o.position("size") for o in self.overloads} - {None})
        for place in places:
            if place < len(args) and isinstance(args[place], (tuple, list)):
                return (*args[:place], (first, *args[place]), *args[place + 1 :]), kwargs
        if places == [0]:  # randn(2, 3)
            return ((first, *args),), kwargs
        return None


def call_of(func: Any) -> Call:
    name = str(getattr(func, "__name__", ""))
    if name in ("__get__", "__set__"):
        return Call(func.__self__.__name__, False, True, ())
    return _named(name)


@functools.cache
def _named(name: str) -> Call:
    table = _table()
    if name in table:
        overloads = table[name]
        mutates = name.endswith("_") and not name.endswith("__")
        return Call(name.rstrip("_") if mutates else name, mutates, False, overloads)
    if name.endswith("_") and not name.startswith("__"):
        return Call(name[:-1], True, False, table.get(name[:-1], ()))
    return Call(name, name == "__setitem__", False, ())
