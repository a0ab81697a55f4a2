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
    """A sum of cosines of 0, 1, 2, ... periods with the weights `a`, of alternating sign."""
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if not all(isinstance(value, (int, float)) for value in a):
        raise TypeError(f"Coefficients must be numbers, got {a}")
    return _cosines(grid.x, a)


@_window
def general_hamming(grid: _Grid, *, alpha: float = 0.54) -> Any:
    """alpha - (1 - alpha) cos(phi)."""
    return _cosines(grid.x, (alpha, 1 - alpha))


@_window
def hamming(grid: _Grid) -> Any:
    """0.54 - 0.46 cos(phi)."""
    return _cosines(grid.x, (0.54, 0.46))


@_window
def hann(grid: _Grid) -> Any:
    """(1 - cos(phi)) / 2."""
    return _cosines(grid.x, (0.5, 0.5))


@_window
def blackman(grid: _Grid) -> Any:
    """0.42 - 0.5 cos(phi) + 0.08 cos(2 phi)."""
    return _cosines(grid.x, (0.42, 0.5, 0.08))


@_window
def nuttall(grid: _Grid) -> Any:
    """Four terms of least side lobes (A. H. Nuttall, Some windows with very good sidelobe behavior, 1981)."""
    return _cosines(grid.x, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_window
def bartlett(grid: _Grid) -> Any:
    """A triangle that is 0 at both ends."""
    return 1 - grid.x.abs()


@_window
def cosine(grid: _Grid) -> Any:
    """Half a period of the sine, whose zeros lie half a step outside."""
    return torch.cos(grid.x * (math.pi / (2 + grid.step)))


@_window
def gaussian(grid: _Grid, *, std: float = 1.0) -> Any:
    """exp(-(n / std)^2 / 2), n steps from the middle."""
    return torch.exp(-0.5 * torch.square(grid.x / (grid.step * _positive(std, "Standard deviation"))))


@_window
def exponential(grid: _Grid, *, center: float | None = None, tau: float = 1.0) -> Any:
    """exp(-|n - center| / tau) of the n-th; `center` is the middle unless `sym=False`."""
    _positive(tau, "Tau")
    if center is not None and grid.is_symmetric:
        raise ValueError("Center must be None for symmetric windows")
    distance = grid.x / grid.step if center is None else (grid.x + 1) / grid.step - center
    return torch.exp(-distance.abs() / tau)


@_window
def kaiser(grid: _Grid, *, beta: float = 12.0) -> Any:
    """I0(beta sqrt(1 - x^2)) / I0(beta), x from -1 to 1."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    # 0 or more, whatever the rounding of what is squared.
    inside = beta * torch.sqrt(torch.clamp(1 - torch.square(grid.x), min=0))
    return torch.i0(inside) / torch.i0(torch.full((), beta, dtype=grid.x.dtype, device=grid.x.device))
