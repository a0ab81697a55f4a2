"""Switches of oneDNN, kept without effect: this build does not use it."""

from __future__ import annotations

import contextlib

from torch_py.backends._switches import switched

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    return False


def flags(
    enabled: bool | None = False,
    deterministic: bool | None = False,
    allow_tf32: bool | None = True,
    fp32_precision: str | None = "none",
) -> contextlib.AbstractContextManager[None]:
    """Switches inside a block."""
    return switched(globals(), dict(locals()))
