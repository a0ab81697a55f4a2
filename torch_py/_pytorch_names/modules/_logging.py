"""Logs of PyTorch's compiler. There is no compiler, so nothing is logged; loggers by name are Python's
own."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["getArtifactLogger", "set_logs", "trace_structured"]


def set_logs(**levels: Any) -> None:
    """Chooses the compiler's logs: there are none."""


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:  # noqa: N802  # PyTorch's name
    """The logger `module_qname.artifact_name`."""
    return logging.getLogger(f"{module_qname}.{artifact_name}")


def trace_structured(name: str, *arguments: Any, **keywords: Any) -> None:
    """Writes to the compiler's trace: there is none."""
