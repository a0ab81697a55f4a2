"""`torch._check` and its variants, which raise one kind of exception each unless a condition holds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torch_py._tensor import Tensor

__all__ = [
    "_assert",
    "_assert_async",
    "_assert_scalar",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_tensor_all_with",
    "_check_type",
    "_check_value",
    "_check_with",
]

Message = Callable[[], Any] | None

_NO_MESSAGE = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, "
    "please report an enhancement request.)"
)


def _text(message: Message) -> str:
    if message is None:
        return _NO_MESSAGE
    if not callable(message):
        raise TypeError("message must be a callable")
    return str(message())


def _check_with(error_type: type[BaseException], cond: bool, message: Message) -> None:
    """Raises `error_type` with the text that `message()` returns
    unless `cond` is true, which must be a bool."""
    if isinstance(cond, Tensor):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to "
            "assert that all elements are true."
        )
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise error_type(_text(message))


def _check(cond: bool, message: Message = None) -> None:
    """Raises RuntimeError unless `cond` is true."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Message = None) -> None:
    """Raises IndexError unless `cond` is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Message = None) -> None:
    """Raises ValueError unless `cond` is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Message = None) -> None:
    """Raises TypeError unless `cond` is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Message = None) -> None:
    """Raises NotImplementedError unless `cond` is true."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: Any = None) -> None:
    """Raises RuntimeError unless `i` is at least 0 and, where it is given, at most `max`."""
    warnings.warn("_check_is_size is deprecated; use _check(i >= 0) instead", FutureWarning, stacklevel=2)
    _check(bool(i >= 0), message)
    if max is not None:
        _check(bool(i <= max), message)


def _check_tensor_all(cond: Tensor, message: Message = None) -> None:
    """Raises RuntimeError unless all elements of `cond` are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_tensor_all_with(error_type: type[BaseException], cond: Tensor, message: Message = None) -> None:
    """Raises `error_type` unless all elements of `cond` are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    _check_with(error_type, bool(cond.all()), message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raises RuntimeError unless the one element of `input` is true.

    What runs on the CPU is checked at once.
    """
    if not isinstance(input, Tensor):
        raise TypeError(
            f"_assert_async(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    if not bool(input):
        raise RuntimeError(
            "Expected Tensor with single nonzero value, but got zero" if assert_msg is None else assert_msg
        )


def _assert_scalar(self: Any, assert_msg: str) -> None:
    """Raises RuntimeError with `assert_msg` unless the number `self` is true."""
    if not self:
        raise RuntimeError(assert_msg)


def _assert(condition: Any, message: str) -> None:
    """As the statement `assert`, as a function that tracers can record."""
    assert condition, message
