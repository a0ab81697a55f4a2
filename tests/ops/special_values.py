"""Numbers at which formulas break: limits, signed zeros, the smallest and largest, and poles.

Samples of the tests get these as elements. Where PyTorch's results differ on purpose, a row of `DIFFERENT`
says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.ops.comparison import dtype_name
from tests.ops.samples import SampleInput
from tests.ops.samples.registry import is_tensor

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int8", "uint8")
_INFINITE = (np.inf, -np.inf, np.nan)
_SMALL = (0.0, -0.0, 0.25, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, -3.0, 3.0)
_MIDDLE = (10.5, -20.25, 88.75, -100.5, 171.5, 1e4, -1e4)
_LARGE = (1e10, -1e10, -1e10 - 0.5, 1e30, -1e30)  # beyond float16
_LARGEST_BFLOAT16 = 3.3895313892515355e38


def numbers(dtype: str) -> Any:
    """The special values of a dtype; those of bfloat16 in float32."""
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        usual = [number for number in (-7, -2, -1, 0, 1, 2, 3, 7) if number >= info.min]
        return np.array([info.min, *usual, info.max // 2, info.max], dtype=dtype)

    stored = "float32" if dtype == "bfloat16" else dtype
    limits = np.finfo(stored)
    largest = _LARGEST_BFLOAT16 if dtype == "bfloat16" else float(limits.max)
    least = float(limits.smallest_subnormal)
    edges = (least, -least, float(limits.tiny), float(limits.eps), largest, -largest)
    values = (*_INFINITE, *_SMALL, *_MIDDLE, *edges, *(() if dtype == "float16" else _LARGE))
    return np.array(values, dtype=stored)


def tensor_places(sample: SampleInput, dtype: str) -> list[int]:
    """The positions of one or two tensors of `dtype`; empty if the sample has others."""
    places = [place for place, value in enumerate(sample.positional) if is_tensor(value)]
    nested = any(
        isinstance(value, (list, tuple)) and any(map(is_tensor, value)) for value in sample.positional
    )
    others = nested or any(is_tensor(value) for value in sample.kwargs.values())
    fits = len(places) in (1, 2) and all(dtype_name(sample.positional[place]) == dtype for place in places)
    return places if fits and not others else []


def all_pairs(dtype: str, count: int) -> list[Any]:
    """Columns with every combination of `count` special values."""
    return [grid.ravel() for grid in np.meshgrid(*[numbers(dtype)] * count, indexing="ij")]


def with_elements(
    sample: SampleInput, places: list[int], columns: list[Any], torch: Any, dtype: str, requires_grad: bool
) -> SampleInput:
    """The same call with vectors of these elements."""
    values = list(sample.positional)
    for place, column in zip(places, columns):
        tensor = torch.from_numpy(column.copy()).to(getattr(torch, dtype))
        values[place] = tensor.requires_grad_(requires_grad)
    return SampleInput(*values, **sample.kwargs)


# Where PyTorch's results are others


@dataclass(frozen=True)
class Different:
    """Elements that are not compared: those at which `where` of the arguments holds."""

    operators: str  # a regular expression
    parts: str  # "result", "gradient" or both
    where: Callable[..., Any]
    reason: str

    def covers(self, operator: str, part: str) -> bool:
        return part in self.parts.split() and re.fullmatch(self.operators, operator) is not None


def _huge(x: Any) -> Any:
    return np.abs(x) > np.finfo(x.dtype).max / 4


def _overflows(x: Any, *divisor: Any) -> Any:
    if not divisor:  # it is a number
        return np.isinf(x)
    with np.errstate(all="ignore"):
        return np.isinf(x / divisor[0])


def _any(condition: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *arguments: np.any([condition(argument) for argument in arguments], axis=0)


DIFFERENT: tuple[Different, ...] = (
    Different("(add|sub|rsub).Tensor", "result", _any(_huge), "PyTorch fuses the product with the sum"),
    Different(
        "(remainder|fmod).Tensor", "result gradient", _overflows, "PyTorch's nan where a quotient overflows"
    ),
    Different(
        "atan2",
        "gradient",
        lambda y, x: np.abs(x * x + y * y) < np.finfo(x.dtype).tiny,
        "the gradient of points close to 0; PyTorch's squares underflow",
    ),
    Different(
        "copysign.Tensor",
        "gradient",
        lambda x, *_: ~np.isfinite(x),
        "the sign; PyTorch divides the result by self",
    ),
    Different("acosh", "gradient", lambda x: x <= -1, "nan outside the domain, as the result"),
    Different(
        "sinh|cosh",
        "result gradient",
        lambda x: (x.dtype == np.float32) & (np.abs(x) > 88),
        "finite where PyTorch's exponential overflows before it is halved",
    ),
    Different("special_erfcx", "gradient", _huge, "PyTorch's product overflows"),
    Different("special_log_ndtr", "gradient", lambda x: x < -30, "PyTorch's densities underflow"),
    Different(
        "special_ndtri", "gradient", lambda x: x < np.finfo(x.dtype).tiny, "PyTorch's exponential overflows"
    ),
    Different(
        "igammac?",
        "result",
        lambda a, x: np.isnan(a) | np.isnan(x) | (np.abs(a) < 1e-30) | (np.abs(a) > 1e30) | (a == x),
        "nan of nan, limits where PyTorch gives nan or stops early, and PyTorch's 9 digits near a = x",
    ),
    Different(
        "i0|special_i1",
        "result gradient",
        lambda x: ~(np.abs(x) < 80),
        "infinite beyond the largest number; PyTorch gives nan, or inf too early",
    ),
    Different("special_i1e?", "gradient", lambda x: np.isnan(x), "nan of nan; PyTorch 0.5"),
    Different(
        "special_bessel_.*|special_airy_ai",
        "result",
        lambda x: ~(np.abs(x) < 1e4),
        "the limit 0 at infinity, and digits of large angles",
    ),
    Different(
        "hardtanh|relu6|hardshrink|softshrink|elu|hardsigmoid|hardswish",
        "gradient",
        lambda x: np.isnan(x),
        "the gradient at nan is that of one side, which differs from PyTorch's",
    ),
    Different(
        "hardswish", "result", lambda x: _huge(x) | np.isinf(x), "PyTorch multiplies before it divides"
    ),
    Different(
        "ldexp.Tensor",
        "result",
        lambda x, *_: np.full(x.shape, x.dtype == np.float16),
        "rounded once, from float32",
    ),
    Different(
        "signbit|copysign.Tensor",
        "result",
        lambda *arguments: np.isnan(arguments[-1]),
        "the sign of nan does not outlive every conversion",
    ),
    Different(
        "special_(scaled_)?modified_bessel_k.",
        "result",
        lambda x: np.abs(x) < np.finfo(x.dtype).tiny,
        "PyTorch's float32 products and logarithms of the smallest numbers",
    ),
    Different(
        "hardsigmoid",
        "gradient",
        lambda x: np.full(x.shape, x.dtype == np.float64),
        "PyTorch's sixth is rounded to float32",
    ),
)

# Calls that are an error here.
REFUSED: dict[tuple[str, str], str] = {("hardtanh", "uint8"): "negative limits of unsigned integers"}

# PyTorch's loops are as long as a value is large; ours are called alone.
ENDLESS_IN_PYTORCH = re.compile(
    r"special_\w*_polynomial_\w+(\..*)?|special_zeta(\..*)?|gcd|lcm|digamma_?|polygamma_?|mvlgamma"
)
