"""What the instructions do, one function each, named as `decode` names them."""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = (
    "blocks", "calls", "containers", "control", "exceptions", "functions", "generators", "matching", "names",
    "operators", "stack",
)  # fmt: skip


def all_handlers() -> dict[str, Any]:
    """The handlers by the names of their instructions."""
    found: dict[str, Any] = {}
    for part in _PARTS:
        found.update(importlib.import_module(f"{__name__}.{part}").HANDLERS)
    return found
