"""Switches of cuDNN, kept without effect: torch_py does not call it yet."""

from __future__ import annotations

import contextlib
from typing import Any

from torch_py.backends._switches import switched

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
fp32_precision = "none"


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
    return switched(globals(), dict(locals()))
