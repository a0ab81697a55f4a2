"""Marks of how stable a function is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")
_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY: dict[Any, None] = {}


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """A decorator that adds to the docstring whether later versions will keep the function as it is."""

    def mark(function: _T) -> _T:
        note = (
            "Backwards-compatibility for this API is guaranteed."
            if is_backward_compatible
            else "This API is experimental and is *NOT* backward-compatible."
        )
        function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n.. note::\n    {note}\n"
        _MARKED_WITH_COMPATIBILITY[function] = None
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS[function] = None
        return function

    return mark
