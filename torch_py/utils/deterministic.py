"""`fill_uninitialized_memory`: whether deterministic mode fills what `torch.empty` and its like leave open.
True at first."""

from __future__ import annotations

import sys
import types
from typing import Any

from torch_py import _settings


class _Deterministic(types.ModuleType):
    """The module itself: assigning its attribute must reach the native code."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        return _settings.fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"expected a bool, but got {type(value).__name__}")
        _settings.fill_uninitialized_memory(value)


sys.modules[__name__].__class__ = _Deterministic
