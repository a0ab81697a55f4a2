"""What functions over one, two and three dimensions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def per_dimension(value: float | Sequence[float], count: int) -> tuple[Any, ...]:
    """Returns one value per dimension."""
    return (value,) * count if isinstance(value, (int, float)) else tuple(value)


def named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Gives a function its public name."""
    function.__name__ = function.__qualname__ = name
    return function
