"""Questions that programs ask while they are captured."""

from __future__ import annotations


def is_compiling() -> bool:
    """Whether the call is captured: True in code that is compiled, False elsewhere."""
    return False


def is_dynamo_compiling() -> bool:
    """As `is_compiling`."""
    return False


def is_exporting() -> bool:
    return False
