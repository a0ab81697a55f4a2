"""Names that torch_py does not have: they can be imported, and raise NotImplementedError when used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from torch_py._pytorch_names.elsewhere import ELSEWHERE
from torch_py._pytorch_names.lacking import LACKING

# An entry of a package's `__path__` that leads to modules without files: see finder.py.
ENTRY = "names of "


class _AbsentMember(NotImplementedError, AttributeError):
    """The error for members: hasattr() is False, and a use explains itself."""


class _AbsentMeta(type):
    """The type of absent names: a call, or access to a member, raises an error."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(cls._why)  # type: ignore[attr-defined]

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        raise _AbsentMember(cls._why)  # type: ignore[attr-defined]


def absent(module: str, name: str, why: str) -> Any:
    """A class without instances, for annotations, subclasses and isinstance."""
    public = module.replace("torch_py", "torch", 1)
    members = {"__module__": module, "__refuses__": True, "_why": f"{public}.{name}: {why}"}
    return _AbsentMeta(name, (), members)


def absent_names(module: str, why: str) -> Callable[[str], Any]:
    """A module's `__getattr__`: every public name is an absent one."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name not in made:
            made[name] = absent(module, name, why)
        return made[name]

    return get


def lacking(module: str, path: list[str] | None = None) -> Callable[[str], Any]:
    """A module's `__getattr__`: finds names of ELSEWHERE, and makes those of LACKING absent ones.

    A package gives its `__path__` too, for its modules that are not files.
    """
    own = module.partition(".")[2]  # as_torch may have renamed the package
    if path is not None:
        path.append(f"{ENTRY}torch_py.{own}")
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name in made:
            return made[name]
        if place := ELSEWHERE.get(own, {}).get(name):
            owner, _, attribute = place.partition(":")
            made[name] = getattr(importlib.import_module(f"torch_py.{owner}"), attribute)
            return made[name]

        why = next((why for why, names in LACKING.get(own, ()) if name in names.split()), None)
        if why is not None:
            made[name] = absent(module, name, why)
            return made[name]

        if f"{own}.{name}" in LACKING:
            return importlib.import_module(f"torch_py.{own}.{name}")
        shown = sys.modules[module].__name__  # as_torch renames modules
        raise AttributeError(f"module {shown!r} has no attribute {name!r}")

    return get
