"""Warnings that appear once per process."""

from __future__ import annotations

import warnings
from functools import cache


@cache
def _warn(text: str, stacklevel: int) -> None:
    warnings.warn(text, UserWarning, stacklevel=stacklevel)


def say_once(text: str) -> None:
    """A UserWarning at the line of the user's program that called our caller; the same text only once."""
    _warn(text, 4)
