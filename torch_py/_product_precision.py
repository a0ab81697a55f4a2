"""How exactly devices multiply float32: what `set_float32_matmul_precision` and `backends.cuda` set."""

from __future__ import annotations

from torch_py import _C

PRECISIONS = ("highest", "high", "medium")

_asked = "highest"


def asked() -> str:
    """One of PRECISIONS."""
    return _asked


def ask_for(precision: str) -> None:
    global _asked
    _asked = precision
    _C._allow_tf32(False, precision != "highest")
