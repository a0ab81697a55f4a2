"""The outcome of a call, by which two libraries are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def outcome(call: Callable[[Any], Any], module: Any) -> Any:
    """The result of ``call(module)``, or the type of its exception, to compare libraries by."""
    try:
        return call(module)
    except Exception as error:
        return type(error)
