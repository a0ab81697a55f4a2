"""What the instructions do: each public function of these modules handles the instruction of its name.

The names are those that `decode` gives the instructions. Those without a function are `unsupported`.
"""

from __future__ import annotations

import importlib
import opcode
from types import FunctionType
from typing import Any

_PARTS = "control functions names operators".split()


def all_handlers() -> dict[str, Any]:
    """The handlers by the names of their instructions."""
    found: dict[str, Any] = {}
    for part in _PARTS:
        module = importlib.import_module(f"{__name__}.{part}")
        for name, value in vars(module).items():
            is_own = isinstance(value, FunctionType) and value.__module__ == module.__name__
            if is_own and not name.startswith("_"):
                found[name] = value

    unsupported = found.pop("unsupported")
    return {**dict.fromkeys(map(str.lower, opcode.opname), unsupported), **found}
