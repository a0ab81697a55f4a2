"""`torch._logging`, the logs of PyTorch's compiler, which stay empty. Named loggers are Python's own."""

from __future__ import annotations

import logging
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["getArtifactLogger", "set_logs", "trace_structured"]


def set_logs(**levels: Any) -> None:
    """Does nothing: the compiler's logs stay empty."""


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:  # noqa: N802  # PyTorch's name
    """The logger `module_qname.artifact_name`."""
    return logging.getLogger(f"{module_qname}.{artifact_name}")


def trace_structured(name: str, *arguments: Any, **keywords: Any) -> None:
    """Does nothing: no trace is written."""


__getattr__ = _lacking(__name__)
