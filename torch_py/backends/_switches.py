"""Blocks inside which settings of a module are changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any


@contextlib.contextmanager
def switched(module: ModuleType, wanted: dict[str, Any]) -> Iterator[None]:
    """Sets attributes of a module to what is not None in `wanted`, and back."""
    before = {name: getattr(module, name) for name, value in wanted.items() if value is not None}
    try:
        _set(module, {name: wanted[name] for name in before})
        yield
    finally:
        _set(module, before)


def _set(module: ModuleType, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(module, name, value)
