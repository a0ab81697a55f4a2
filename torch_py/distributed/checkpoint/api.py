"""The error of saving and loading."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = ["CheckpointException"]


class CheckpointException(BaseException):
    """The errors of processes, by rank."""

    def __init__(self, msg: str, failures: dict[int, Any]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Any]:
        return self._failures


__getattr__ = _lacking(__name__)
