"""What the instructions do, one function each, named as `decode` names them."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo.handlers import (
    blocks,
    calls,
    containers,
    control,
    exceptions,
    functions,
    generators,
    matching,
    names,
    operators,
    stack,
)

_PARTS: tuple[Any, ...] = (
    blocks,
    calls,
    containers,
    control,
    exceptions,
    functions,
    generators,
    matching,
    names,
    operators,
    stack,
)


def all_handlers() -> dict[str, Any]:
    """The handlers by the names of their instructions."""
    found: dict[str, Any] = {}
    for part in _PARTS:
        found.update(part.HANDLERS)
    return found
