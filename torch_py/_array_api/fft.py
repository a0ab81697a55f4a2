"""The Fourier transform extension of the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import fft as _fft
from torch_py._tensor import Tensor

_LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_GRIDS = ("fftn", "ifftn", "rfftn", "irfftn")

__all__ = [*_LINES, *_GRIDS, "fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _along_line(name: str) -> Callable[..., Tensor]:
    operator = getattr(_fft, name)

    def function(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        return operator(x, n=n, dim=axis, norm=norm)

    function.__name__ = function.__qualname__ = name
    return function


def _over_grid(name: str) -> Callable[..., Tensor]:
    operator = getattr(_fft, name)

    def function(x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
        return operator(x, s=s, dim=axes, norm=norm)

    function.__name__ = function.__qualname__ = name
    return function


globals().update({name: _along_line(name) for name in _LINES})
globals().update({name: _over_grid(name) for name in _GRIDS})


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    return _fft.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    return _fft.ifftshift(x, axes)
