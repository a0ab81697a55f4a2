"""Names of packages that torch_py does not have: every name can be
imported, and raises NotImplementedError when it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


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


def absent_names(module: str, why: str) -> Callable[[str], Any]:
    """A module's `__getattr__`: every public name is a class without
    instances, for annotations, subclasses and isinstance."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name not in made:
            public = module.replace("torch_py", "torch", 1)
            made[name] = _AbsentMeta(name, (), {"__module__": module, "_why": f"{public}.{name}: {why}"})
        return made[name]

    return get
