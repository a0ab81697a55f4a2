"""Turning `__torch_function__` of Tensor subclasses off for a stretch of code, and back to what it was."""

from __future__ import annotations

from torch_py import _C


class DisableTorchFunctionSubclass:
    """Inside the block operators treat instances of Tensor subclasses as plain tensors. Not reentrant: make one for each block."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before: bool = _C._set_torch_function_enabled(False)

    def __exit__(self, *exception: object) -> None:
        _C._set_torch_function_enabled(self._before)
