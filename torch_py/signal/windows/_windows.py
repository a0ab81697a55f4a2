"""The windows. All take the same arguments; those that need parameters of their own take these first."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

from torch_py import _C

torch: Any = _C._torch

_SHARED = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
    for name, default in (
        ("sym", True),
        ("dtype", None),
        ("layout", _C.strided),
        ("device", None),
        ("requires_grad", False),
    )
]


class _Grid(NamedTuple):
    x: Any  # positions, from -1 at the beginning of the window to 1 at its end
    step: float  # how far one is from the next
    is_symmetric: bool


def _window(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A window from `formula`, which is given a _Grid and what is the window's own."""
    own = list(inspect.signature(formula).parameters.values())[1:]
    name = formula.__name__

    @wraps(formula)
    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = _C.strided,
        device: Any = None,
        requires_grad: bool = False,
        **settings: Any,
    ) -> Any:
        dtype = _C.get_default_dtype() if dtype is None else dtype
        _check(name, M, dtype, layout)
        missing = [p.name for p in own if p.default is p.empty and p.name not in settings]
        unknown = settings.keys() - {p.name for p in own}
        if missing or unknown:
            raise TypeError(
                f"{name}() "
                + (
                    f"misses '{missing[0]}'"
                    if missing
                    else f"got an unexpected keyword argument '{min(unknown)}'"
                )
            )
        intervals = max(M - 1 if sym else M, 1)
        # Counted in whole numbers from the middle, so that both halves are the same.
        x = torch.arange(-intervals, -intervals + 2 * M, 2, dtype=dtype, device=device) / intervals
        values = formula(_Grid(x, 2 / intervals, sym), **settings)
        return (values if M > 1 else torch.ones(M, dtype=dtype, device=device)).requires_grad_(requires_grad)

    first = inspect.Parameter("M", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    window.__signature__ = inspect.Signature([first, *own, *_SHARED])  # type: ignore[attr-defined]
    return window


def _check(name: str, size: Any, dtype: Any, layout: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{name} requires an integer window length, got M={size!r}")
    if size < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={size}")
    if layout is not _C.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")


def _positive(value: float, what: str) -> float:
    if value <= 0:
        raise ValueError(f"{what} must be positive, got: {value} instead.")
    return value


def _cosines(x: Any, coefficients: Iterable[float]) -> Any:
    """sum of (-1)^i a_i cos(i phi), with phi from 0 to 2 pi; from the
    middle, where cos(i (phi - pi)) has that sign."""
    return sum((a * torch.cos(x * (math.pi * i)) for i, a in enumerate(coefficients)), torch.zeros_like(x))


@_window
def general_cosine(grid: _Grid, *, a: Iterable[float]) -> Any:
    """A sum of cosines:

        w[n] = Σᵢ (-1)ⁱ · a[i] · cos(2π · i · n / N)

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        a: the weights, a list of numbers
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.general_cosine(5, a=[0.5, 0.5]).shape
        torch.Size([5])
    """
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if not all(isinstance(value, (int, float)) for value in a):
        raise TypeError(f"Coefficients must be numbers, got {a}")
    return _cosines(grid.x, a)


@_window
def general_hamming(grid: _Grid, *, alpha: float = 0.54) -> Any:
    """The general Hamming window:

        w[n] = alpha - (1 - alpha) · cos(2π · n / N)

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        alpha: default 0.54
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.general_hamming(5).shape
        torch.Size([5])
    """
    return _cosines(grid.x, (alpha, 1 - alpha))


@_window
def hamming(grid: _Grid) -> Any:
    """The Hamming window:

        w[n] = 0.54 - 0.46 · cos(2π · n / N)

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.hamming(5).shape
        torch.Size([5])
    """
    return _cosines(grid.x, (0.54, 0.46))


@_window
def hann(grid: _Grid) -> Any:
    """The Hann window, a raised cosine:

        w[n] = (1 - cos(2π · n / N)) / 2

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.hann(5).shape
        torch.Size([5])
    """
    return _cosines(grid.x, (0.5, 0.5))


@_window
def blackman(grid: _Grid) -> Any:
    """The Blackman window:

        w[n] = 0.42 - 0.5 · cos(2π · n / N) + 0.08 · cos(4π · n / N)

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.blackman(5).shape
        torch.Size([5])
    """
    return _cosines(grid.x, (0.42, 0.5, 0.08))


@_window
def nuttall(grid: _Grid) -> Any:
    """The minimum four-term window of Nuttall, with low side lobes:

        w[n] = Σᵢ (-1)ⁱ · a[i] · cos(2π · i · n / N)    with four weights

    Source: Nuttall, Some windows with very good sidelobe behavior (1981).

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.nuttall(5).shape
        torch.Size([5])
    """
    return _cosines(grid.x, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_window
def bartlett(grid: _Grid) -> Any:
    """The Bartlett window, a triangle that is 0 at both ends:

        w[n] = 1 - |2 · n / N - 1|

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.bartlett(5).shape
        torch.Size([5])
    """
    return 1 - grid.x.abs()


@_window
def cosine(grid: _Grid) -> Any:
    """The cosine window, half a period of the sine, which is 0 half a step outside:

        w[n] = sin(π · (n + 1/2) / (N + 1))

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.cosine(5).shape
        torch.Size([5])
    """
    return torch.cos(grid.x * (math.pi / (2 + grid.step)))


@_window
def gaussian(grid: _Grid, *, std: float = 1.0) -> Any:
    """The Gaussian window:

        w[n] = exp(-((n - N / 2) / std)² / 2)

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        std: the standard deviation in steps; default 1.0
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.gaussian(5).shape
        torch.Size([5])
    """
    return torch.exp(-0.5 * torch.square(grid.x / (grid.step * _positive(std, "Standard deviation"))))


@_window
def exponential(grid: _Grid, *, center: float | None = None, tau: float = 1.0) -> Any:
    """The exponential window:

        w[n] = exp(-|n - center| / tau)

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        center: the middle; default None, (M - 1) / 2, which it must be unless `sym` is False
        tau: how fast the window falls off; default 1.0
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.exponential(5).shape
        torch.Size([5])
    """
    _positive(tau, "Tau")
    if center is not None and grid.is_symmetric:
        raise ValueError("Center must be None for symmetric windows")
    distance = grid.x / grid.step if center is None else (grid.x + 1) / grid.step - center
    return torch.exp(-distance.abs() / tau)


@_window
def kaiser(grid: _Grid, *, beta: float = 12.0) -> Any:
    """The Kaiser window:

        w[n] = I₀(beta · √(1 - x²)) / I₀(beta)    with x = 2 · n / N - 1

    n counts from 0, and N is M - 1 if the window is symmetric, M otherwise.

    Args:
        beta: how fast the window falls off; default 12.0
        M: the number of points
        sym: whether the window is symmetric, as for filters; otherwise it continues periodically, as for
            spectra; default True
        dtype: float32 or float64; default None, the default dtype
        layout: only `torch.strided`
        device: default None, the default device
        requires_grad: whether autograd records operations on the result; default False

    Raises:
        ValueError: `M` is negative, or the dtype is not supported

    Example:
        >>> torch.signal.windows.kaiser(5).shape
        torch.Size([5])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    # 0 or more, whatever the rounding of what is squared.
    inside = beta * torch.sqrt(torch.clamp(1 - torch.square(grid.x), min=0))
    return torch.i0(inside) / torch.i0(torch.full((), beta, dtype=grid.x.dtype, device=grid.x.device))
