"""Packages of PyTorch that torch_py does not have: whatever is taken from them can be named, and raises
NotImplementedError when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class _AbsentMember(NotImplementedError, AttributeError):
    """Answers hasattr() with no, and says why to who goes on."""


class _AbsentMeta(type):
    """Calling the class, or taking a member of it, is a use."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(cls._why)  # type: ignore[attr-defined]

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        raise _AbsentMember(cls._why)  # type: ignore[attr-defined]


def absent_names(module: str, why: str) -> Callable[[str], Any]:
    """A module's `__getattr__`: every public name is a class without instances, which can be called,
    subclassed or asked about by isinstance."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name not in made:
            public = module.replace("torch_py", "torch", 1)
            made[name] = _AbsentMeta(name, (), {"__module__": module, "_why": f"{public}.{name}: {why}"})
        return made[name]

    return get
