"""Switches that turn the recording of operators on and off, as context managers and decorators."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from torch_py import _C
from torch_py.utils._contextlib import _DecoratorContextManager, context_decorator

F = TypeVar("F", bound=Callable[..., Any])


class _FixedMode(_DecoratorContextManager):
    """A switch with a fixed mode. `@no_grad` without parentheses decorates like `@no_grad()`."""

    _mode: bool

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else context_decorator(cls, function)

    def __init__(self, function: Any = None) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._before.pop())


class no_grad(_FixedMode):
    """Turns recording off: results computed inside do not require grad.

    It affects only the current thread.

    Args:
        function: the function to decorate; without it, a context manager or decorator

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    _mode = False


class enable_grad(_FixedMode):
    """Turns recording on, also inside `no_grad`. It affects only the current thread.

    Args:
        function: the function to decorate; without it, a context manager or decorator

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    _mode = True


class set_grad_enabled(_DecoratorContextManager):
    """Turns recording on or off at once.

    As a context manager it restores the previous mode at the end; as a decorator it affects only calls of the
    function.

    Args:
        mode: whether operations are recorded

    Example:
        >>> with torch.set_grad_enabled(False):
        ...     torch.is_grad_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'mode' must be bool, not {type(mode).__name__}")
        self._before = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._before)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, function: F) -> F:
        _C._set_grad_enabled(self._before)
        return super().__call__(function)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(_DecoratorContextManager):
    """Turns recording off, also inside `enable_grad`, and makes results inference tensors, which autograd
    refuses later.

    With ``mode=False`` it turns recording on and ends an inference mode around it.

    Args:
        mode: whether to turn inference mode on, or the function to decorate; default True

    Example:
        >>> with torch.inference_mode():
        ...     y = torch.ones(2) * 2
        >>> y.is_inference()
        True
    """

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else context_decorator(cls, mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((_C.is_grad_enabled(), _C.is_inference_mode_enabled()))
        _C._set_grad_enabled(not self.mode)
        _C._set_inference_mode(self.mode)

    def __exit__(self, *exception: object) -> None:
        grad_enabled, inference = self._before.pop()
        _C._set_inference_mode(inference)
        _C._set_grad_enabled(grad_enabled)

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)


class set_multithreading_enabled:
    """Sets whether backward may use one thread per device, at once or for a block.

    Backward on the CPU always runs on the thread that calls it.
    """

    def __init__(self, mode: bool) -> None:
        self.prev = is_multithreading_enabled()
        self.mode = mode
        _threads.multithreading = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _threads.multithreading = self.prev

    def clone(self) -> set_multithreading_enabled:
        """A new instance with the same setting."""
        return type(self)(self.mode)


_threads = threading.local()


def is_multithreading_enabled() -> bool:
    """Whether backward may use one thread per device."""
    return bool(getattr(_threads, "multithreading", True))
