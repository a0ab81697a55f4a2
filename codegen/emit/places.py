"""Where an entry stands, as generated files say it."""

from __future__ import annotations

from codegen.model import Operator


def place_of(operator: Operator) -> str:
    """``native_functions.yaml:12``"""
    return f"{operator.location.file}:{operator.location.line}"
