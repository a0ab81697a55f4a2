"""Elementwise functions, made from a table of the standard's names and torch's where they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._array_api._dtypes import promoted
from torch_py._C import _torch
from torch_py._tensor import Tensor

_UNARY = {
    **dict.fromkeys(
        "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor imag isfinite isinf isnan log "
        "log10 log1p log2 logical_not "
        "negative positive real reciprocal round signbit sin sinh sqrt square tan tanh trunc".split()
    ),
    "bitwise_invert": "bitwise_not",
    "conj": "conj_physical",
    "sign": "sgn",
}
_BINARY = dict.fromkeys(
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide "
    "floor_divide greater greater_equal "
    "hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter "
    "not_equal pow remainder "
    "subtract".split()
) | {"equal": "eq"}

__all__ = ["clip", *_UNARY, *_BINARY]


def _unary(name: str, operator: Any) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor, /) -> Tensor:
        return operator(x)

    return _named(function, name)


def _binary(name: str, operator: Any) -> Callable[[Any, Any], Tensor]:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return operator(*promoted(name, x1, x2))

    return _named(function, name)


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of the array API standard; computed by torch."
    return function


globals().update({name: _unary(name, getattr(_torch, other or name)) for name, other in _UNARY.items()})
globals().update({name: _binary(name, getattr(_torch, other or name)) for name, other in _BINARY.items()})


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """`x` with values below `min` and above `max` replaced by them; both broadcast.

    The dtype is that of `x`.
    """
    bounds = [bound.to(x.dtype) if isinstance(bound, Tensor) else bound for bound in (min, max)]
    if all(bound is None for bound in bounds):
        return x.clone()

    if any(isinstance(bound, Tensor) for bound in bounds):
        bounds = [
            bound
            if bound is None or isinstance(bound, Tensor)
            else _torch.scalar_tensor(bound, dtype=x.dtype)
            for bound in bounds
        ]

    result: Tensor = _torch.clamp(x, *bounds)
    return result.to(x.dtype)
