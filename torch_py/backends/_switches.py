"""Blocks inside which settings of a module are changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def switched(module: dict[str, Any], wanted: dict[str, Any]) -> Iterator[None]:
    """Sets globals of a module to what is not None in `wanted`, and back."""
    before = {name: module[name] for name, value in wanted.items() if value is not None}
    module.update({name: wanted[name] for name in before})
    try:
        yield
    finally:
        module.update(before)
