"""Blocks of code that run with `__torch_function__` switched off or on."""

from __future__ import annotations

from torch_py import _C


class DisableTorchFunctionSubclass:
    """Inside the block operators treat instances of Tensor subclasses as plain tensors.

    Not reentrant: make one for each block.

    Example:
        >>> with torch._C.DisableTorchFunctionSubclass():
        ...     torch.ones(1) + 1
        tensor([2.])
    """

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before: bool = _C._set_torch_function_enabled(False)

    def __exit__(self, *exception: object) -> None:
        _C._set_torch_function_enabled(self._before)


class DisableTorchFunction:
    """As DisableTorchFunctionSubclass, and modes do not see the calls either.

    Example:
        >>> with torch._C.DisableTorchFunction():
        ...     torch.ones(1) + 1
        tensor([2.])
    """

    __slots__ = ("_modes", "_types")

    def __enter__(self) -> None:
        self._types: bool = _C._set_torch_function_enabled(False)
        self._modes: bool = _C._set_torch_function_modes_enabled(False)

    def __exit__(self, *exception: object) -> None:
        _C._set_torch_function_enabled(self._types)
        _C._set_torch_function_modes_enabled(self._modes)


class _EnableTorchFunction:
    """Switches overrides by types and modes on again inside the block."""

    __slots__ = ("_modes", "_types")

    def __enter__(self) -> None:
        self._types: bool = _C._set_torch_function_enabled(True)
        self._modes: bool = _C._set_torch_function_modes_enabled(True)

    __exit__ = DisableTorchFunction.__exit__


def _is_torch_function_all_disabled() -> bool:
    before = _C._set_torch_function_modes_enabled(True)
    _C._set_torch_function_modes_enabled(before)
    return not before and not _C._is_torch_function_enabled()
