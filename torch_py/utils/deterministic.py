"""`fill_uninitialized_memory`: whether deterministic mode fills the memory of `torch.empty` and similar
functions. It is True by default."""

from __future__ import annotations

import sys
import types

from torch_py import _settings


class _Deterministic(types.ModuleType):
    """The type of this module; assigning its attribute must reach the native code."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether deterministic mode fills uninitialized memory."""
        return _settings.fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"expected a bool, but got {type(value).__name__}")
        _settings.fill_uninitialized_memory(value)


sys.modules[__name__].__class__ = _Deterministic
