"""Makes the tensors of samples: reproducible values, ranges without awkward points, memory layouts."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

Layout = Literal["contiguous", "transposed", "strided", "expanded", "offset", "channels_last"]

_FLOATING = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_SIGNED = ("int8", "int16", "int32", "int64")
# Values at which arithmetic fails: NaN, infinities, zeros of both signs, overflow, and a number that dtypes
# narrower than float32 round to 0.
_EXTREMES = (
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1e4,
    -1e4,
    1e-30,
    -1e-30,
    1.0,
    -1.0,
    0.5,
    88.0,
    -104.0,
    2.5,
    -2.5,
)


class Make:
    """``make(3, 4)`` is a tensor of that shape in the dtype under test.

    ``torch`` is the module under test (torch_py, or torch to compare with); with the same ``seed`` and
    ``dtype`` every module gets the same values in the same layout. With ``requires_grad`` differentiable
    tensors require grad and generators yield fewer, smaller samples, because numerical differentiation takes
    two calls per element.
    """

    def __init__(self, torch: Any, dtype: str, device: str, requires_grad: bool, seed: str) -> None:
        self.torch = torch
        self.dtype_name = dtype
        self.dtype = getattr(torch, dtype)
        self.device = device
        self.requires_grad = requires_grad
        self.random = np.random.default_rng(zlib.crc32(f"{seed} {dtype}".encode()))

    # What the dtype is

    @property
    def is_floating(self) -> bool:
        return self.dtype_name in _FLOATING

    @property
    def is_complex(self) -> bool:
        return self.dtype_name in _COMPLEX

    @property
    def is_inexact(self) -> bool:
        return self.is_floating or self.is_complex

    @property
    def is_bool(self) -> bool:
        return self.dtype_name == "bool"

    @property
    def is_integral(self) -> bool:
        return not self.is_inexact and not self.is_bool

    # Tensors

    def __call__(
        self,
        *shape: int,
        low: float = -2.0,
        high: float = 2.0,
        away_from: Sequence[float] = (),
        distinct: bool = False,
        layout: Layout = "contiguous",
        dtype: str | None = None,
        requires_grad: bool | None = None,
    ) -> Any:
        """Random elements in [low, high), none within 0.1 of a number in ``away_from``.

        ``distinct`` elements differ from each other by far more than a step of numerical differentiation, so
        that maxima, medians and orders are unique. For integers the range is widened to [3 low, 3 high) and
        cut off at 0 where the dtype has no sign.
        """
        name = dtype or self.dtype_name
        stored = _stored_shape(shape, layout)
        array = (
            self._distinct(stored, low, high, name) if distinct else self._uniform(stored, low, high, name)
        )
        for point in away_from if name in _FLOATING + _COMPLEX else ():
            array = np.where(np.abs(array - point) < 0.1, array + 0.2, array)
        if not (distinct or name in _FLOATING + _COMPLEX or name == "bool"):
            for point in away_from:
                array = np.where(array == point, array + 1, array)
        return self._finish(_laid_out(self.tensor(array, name), shape, layout), requires_grad)

    def values(self, values: Any, dtype: str | None = None) -> Any:
        """A tensor of these numbers in the dtype under test; it requires grad if that is asked for."""
        name = dtype or self.dtype_name
        return self._finish(self.tensor(np.asarray(values, dtype=_numpy_dtype(name)), name), None)

    def integers(self, *shape: int, low: int = 0, high: int, dtype: str = "int64") -> Any:
        """Random integers in [low, high): indices, counts, class numbers."""
        return self.tensor(self.random.integers(low, high, shape), dtype)

    def generator(self) -> Any:
        """A random generator with its own state."""
        return self.torch.Generator().manual_seed(int(self.random.integers(1 << 31)))

    def booleans(self, *shape: int) -> Any:
        return self.tensor(self.random.random(shape) < 0.5, "bool")

    def extremes(self) -> Any:
        """Infinities, nan, signed zeros, huge and tiny numbers; only meaningful where ``is_floating``."""
        return self.tensor(np.array(_EXTREMES, dtype=_numpy_dtype(self.dtype_name)), self.dtype_name)

    def tensor(self, array: Any, dtype: str) -> Any:
        """A tensor with memory of its own, so that it can be resized."""
        if np.size(array) == 0:
            return self.torch.empty(np.shape(array), dtype=getattr(self.torch, dtype), device=self.device)
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        made = self.torch.from_numpy(array.astype(_numpy_dtype(dtype)))
        return made.to(getattr(self.torch, dtype)).clone().to(self.device)

    def layouts(self, *shape: int, **options: Any) -> Iterator[Any]:
        """Tensors of one shape in different memory layouts.

        Expanded ones only where elements are not changed one by one.
        """
        chosen: tuple[Layout, ...] = (
            ("transposed", "strided")
            if self.requires_grad
            else ("transposed", "strided", "expanded", "offset")
        )
        for layout in chosen:
            yield self(*shape, layout=layout, **options)

    # Details

    def _finish(self, tensor: Any, requires_grad: bool | None) -> Any:
        wanted = self.requires_grad if requires_grad is None else requires_grad
        return (
            tensor.requires_grad_()
            if wanted and (tensor.is_floating_point() or tensor.is_complex())
            else tensor
        )

    def _uniform(self, shape: tuple[int, ...], low: float, high: float, dtype: str) -> Any:
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if dtype in _COMPLEX:
            return self.random.uniform(low, high, shape) + 1j * self.random.uniform(low, high, shape)
        if dtype in _FLOATING:
            return self.random.uniform(low, high, shape)
        lowest = int(np.ceil(3 * low)) if dtype in _SIGNED else max(0, int(np.ceil(3 * low)))
        return self.random.integers(lowest, max(lowest + 1, int(3 * high)), shape)

    def _distinct(self, shape: tuple[int, ...], low: float, high: float, dtype: str) -> Any:
        count = int(np.prod(shape))
        order = self.random.permutation(count)
        if dtype in _FLOATING:
            return (low + (order + 0.5) * (high - low) / max(count, 1)).reshape(shape)
        return (order - (count // 2 if dtype in _SIGNED else 0)).reshape(shape)


def _numpy_dtype(name: str) -> str:
    # NumPy has no bfloat16; every bfloat16 is a float32.
    return "float32" if name == "bfloat16" else name


def _stored_shape(shape: tuple[int, ...], layout: Layout) -> tuple[int, ...]:
    """The shape of the contiguous tensor that ``_laid_out`` turns into one of ``shape``."""
    if layout == "contiguous" or not shape:
        return shape
    if layout == "transposed":
        return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape
    if layout == "strided":
        return (*shape[:-1], 2 * shape[-1])
    if layout == "channels_last":
        return (shape[0], *shape[2:], shape[1])
    return ((1 if layout == "expanded" else shape[0] + 1), *shape[1:])


def _laid_out(tensor: Any, shape: tuple[int, ...], layout: Layout) -> Any:
    if layout == "contiguous" or not shape:
        return tensor
    if layout == "transposed":
        return tensor.transpose(-1, -2) if len(shape) > 1 else tensor
    if layout == "strided":
        return tensor[..., ::2]
    if layout == "channels_last":
        return tensor.permute(0, len(shape) - 1, *range(1, len(shape) - 1))
    return tensor.expand(shape) if layout == "expanded" else tensor[1:]
