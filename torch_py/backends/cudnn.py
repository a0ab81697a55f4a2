"""Switches of cuDNN, which torch_py does not call: only `allow_tf32` has an effect.

`allow_tf32` (True at first, as in PyTorch) lets convolutions on CUDA round float32 operands to TF32.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any

from torch_py import _C
from torch_py.backends._switches import switched

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
fp32_precision = "none"


class _Module(ModuleType):
    """This module, whose `allow_tf32` is a setting of the library."""

    @property
    def allow_tf32(self) -> bool:
        return bool(_C._tf32_allowed(True))

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _C._allow_tf32(True, bool(allowed))


sys.modules[__name__].__class__ = _Module


def is_available() -> bool:
    return False


def version() -> int | None:
    """None: this build does not use cuDNN."""
    return None


def is_acceptable(tensor: Any) -> bool:
    return False


def flags(
    enabled: bool | None = False,
    benchmark: bool | None = False,
    benchmark_limit: int | None = 10,
    deterministic: bool | None = False,
    allow_tf32: bool | None = True,
    fp32_precision: str | None = "none",
) -> contextlib.AbstractContextManager[None]:
    """Switches inside a block."""
    return switched(sys.modules[__name__], dict(locals()))
