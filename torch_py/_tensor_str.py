"""The text of tensors: numbers aligned in columns, large tensors summarised, then dtype, device and graph
where the numbers do not show them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunction


@dataclass(frozen=True)
class PrintOptions:
    precision: int = 4  # digits after the point
    threshold: float = 1000  # elements from which a tensor is summarised
    edgeitems: int = 3  # elements shown at both ends of a summarised dimension
    linewidth: int = 80
    sci_mode: bool | None = None  # None: decided per tensor


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = PrintOptions()

# Magnitudes from which fixed notation is given up for scientific notation.
_LARGEST_FIXED = 1e8
_SMALLEST_FIXED = 1e-4
_WIDEST_RATIO = 1000.0
_GAP = "..."


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Changes how tensors print from now on.

    `profile` ('default', 'short' or 'full') resets the four numbers first; each number given then replaces
    its option. `sci_mode` forces scientific notation on or off; None, also when not given, lets each tensor
    decide. Raises ValueError for an unknown profile.

    Args:
        precision: the number of digits after the point; default None, unchanged, as the others
        threshold: the number of elements from which on the middle is left out
        edgeitems: how many elements are shown at both ends then
        linewidth: the number of characters of a line
        profile: 'default', 'short' or 'full'
        sci_mode: whether numbers have exponents; None decides by their sizes

    Example:
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1.23456])
        tensor([1.23])
        >>> torch.set_printoptions(profile="default")
    """
    global _options
    chosen = _options
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(
                f"set_printoptions: expected profile to be one of {', '.join(_PROFILES)}, got {profile!r}"
            )
        chosen = _PROFILES[profile]

    given: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }

    _options = replace(
        chosen, sci_mode=sci_mode, **{name: value for name, value in given.items() if value is not None}
    )


def get_printoptions() -> PrintOptions:
    return _options


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """`set_printoptions(**options)` for a `with` block."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


class _LiveOptions:
    """The current options, under the name that libraries read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_options, name)


PRINT_OPTS = _LiveOptions()


@dataclass(frozen=True)
class _Notation:
    """How the real numbers of one tensor are written, and the width that all of them fill."""

    write: Callable[[Any], str]
    width: int

    def __call__(self, value: Any) -> str:
        return self.write(value).rjust(self.width)


def _plain_notation(values: list[Any]) -> _Notation:
    return _Notation(str, max((len(str(value)) for value in values), default=1))


def _float_notation(values: list[float], zero: float = 0) -> _Notation:
    """Width and automatic choice of notation come from the finite values other than `zero`."""
    shown = [value for value in values if math.isfinite(value) and value != zero]
    integral = all(value == math.ceil(value) for value in shown)
    scientific = _options.sci_mode
    if scientific is None:
        scientific = bool(shown) and _needs_exponent([abs(value) for value in shown], integral)
    write = _writer(scientific, integral)
    return _Notation(write, max((len(write(value)) for value in shown), default=1))


def _needs_exponent(magnitudes: list[float], integral: bool) -> bool:
    largest = max(magnitudes)
    smallest = min(magnitudes)
    return (
        largest / smallest > _WIDEST_RATIO
        or largest > _LARGEST_FIXED
        or (not integral and smallest < _SMALLEST_FIXED)
    )


def _writer(scientific: bool, integral: bool) -> Callable[[float], str]:
    precision = _options.precision
    if scientific:
        return lambda value: f"{value:.{precision}e}"
    if integral:
        return lambda value: f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
    return lambda value: f"{value:.{precision}f}"


def _notation(values: list[Any], dtype: Any) -> tuple[Callable[[Any], str], int]:
    """The function that writes one element, and the columns an element takes."""
    if dtype.is_complex:
        real, imaginary = (
            _float_notation([value.real for value in values]),
            _float_notation([value.imag for value in values]),
        )

        def write(value: complex) -> str:
            second = imaginary(value.imag).lstrip() + "j"
            return real(value.real) + ("" if second[0] in "+-" else "+") + second

        return write, real.width + imaginary.width + 1
    # The least number of float8_e8m0fnu is what becomes of zero.
    notation = (
        _float_notation(values, 2.0**-127 if dtype is _C.float8_e8m0fnu else 0)
        if dtype.is_floating_point
        else _plain_notation(values)
    )
    return notation, notation.width


def _shown_values(tensor: Any, summarised: bool) -> Any:
    """Nested lists of the elements to print; a summarised dimension keeps `edgeitems` at both ends."""
    edge = _options.edgeitems
    if not summarised or tensor.dim() == 0:
        return tensor.tolist()
    size = tensor.size(0)
    if size <= 2 * edge:
        picked = range(size)
    else:
        picked = [*range(edge), *range(size - edge, size)]  # type: ignore[assignment]
    if tensor.dim() == 1:
        return [tensor[index].item() for index in picked] if len(picked) < size else tensor.tolist()
    return [_shown_values(tensor[index], summarised) for index in picked]


def _flat(nested: Any) -> Iterator[Any]:
    if not isinstance(nested, list):
        yield nested
        return
    for item in nested:
        yield from _flat(item)


class _Layout:
    """Arranges written elements into nested brackets, `indent` columns from the left."""

    def __init__(
        self, write: Callable[[Any], str], width: int, shape: tuple[int, ...], summarised: bool
    ) -> None:
        self.write = write
        self.width = width
        self.shape = shape
        self.summarised = summarised

    def _with_gap(self, parts: list[str], depth: int, gap: str) -> list[str]:
        edge = _options.edgeitems
        if not self.summarised or self.shape[depth] <= 2 * edge:
            return parts
        return [*parts[:edge], gap, *parts[len(parts) - edge :]] if edge else [_GAP]

    def arrange(self, nested: Any, indent: int, depth: int = 0) -> str:
        if not isinstance(nested, list):
            return self.write(nested)
        left = " " * (indent + 1)
        if depth == len(self.shape) - 1:
            parts = self._with_gap([self.write(value) for value in nested], depth, " " + _GAP)
            # Two columns more for ", " after each element.
            per_line = max(1, (_options.linewidth - indent) // (self.width + 2))
            lines = [", ".join(parts[start : start + per_line]) for start in range(0, len(parts), per_line)]
            return "[" + (",\n" + left).join(lines) + "]"
        parts = self._with_gap([self.arrange(item, indent + 1, depth + 1) for item in nested], depth, _GAP)
        blank_lines = "\n" * (len(self.shape) - depth - 1)
        return "[" + ("," + blank_lines + left).join(parts) + "]"


def _numbers(tensor: Any, indent: int) -> str:
    summarised = tensor.numel() > _options.threshold
    values = _shown_values(tensor, summarised)
    write, width = _notation(list(_flat(values)), tensor.dtype)
    return _Layout(write, width, tuple(tensor.shape), summarised).arrange(values, indent)


def _readable(tensor: Any) -> Any:
    """The tensor, or a strided copy of it, without history."""
    source = tensor.detach()
    return source.to_dense() if source.is_mkldnn else source


def _tensor_str(tensor: Any, indent: int) -> str:
    """The numbers of a tensor in brackets, `indent` columns from the
    left: without `tensor(` and what follows."""
    with DisableTorchFunction():
        return _numbers(_readable(tensor), indent) if tensor.numel() else "[]"


def _is_implied(dtype: Any) -> bool:
    """Whether the printed numbers alone tell the dtype."""
    default = _C.get_default_dtype()
    complex_default = {"torch.float64": "complex128", "torch.float16": "complex32"}.get(
        str(default), "complex64"
    )
    return dtype in (default, _C.int64, _C.bool) or dtype == getattr(_C, complex_default, None)


def _suffixes(tensor: Any, has_numbers: bool) -> list[str]:
    parts = []
    if tensor.device.type != "cpu":
        parts.append(f"device='{tensor.device}'")

    if not has_numbers:
        if tensor.dim() != 1 or tensor.is_meta:
            parts.append(f"size={tuple(tensor.shape)}")
        if tensor.dtype != _C.get_default_dtype():
            parts.append(f"dtype={tensor.dtype}")
    else:
        if _options.edgeitems == 0:
            parts.append(f"size={tuple(tensor.shape)}")  # no element need be shown to tell it

    if has_numbers and not _is_implied(tensor.dtype):
        parts.append(f"dtype={tensor.dtype}")

    if tensor.is_mkldnn:
        parts.append(f"layout={tensor.layout}")

    return parts + _autograd_suffixes(tensor)


def _autograd_suffixes(tensor: Any) -> list[str]:
    if tensor.grad_fn is not None:
        return [f"grad_fn=<{tensor.grad_fn.name().rsplit('::', 1)[-1]}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _append(text: str, suffixes: list[str], indent: int) -> str:
    """`text` and its suffixes, each on a line of its own when the last line would become too long."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def tensor_repr(tensor: Any) -> str:
    """The text of `repr(tensor)`: `tensor(` or the name of a subclass, the numbers, and the suffixes."""
    with DisableTorchFunction():
        is_plain = type(tensor) is Tensor or getattr(type(tensor), "_prints_as_plain_tensor", False)
        prefix = "tensor(" if is_plain else f"{type(tensor).__name__}("
        suffixes = _suffixes(tensor, has_numbers=tensor.numel() > 0 and not tensor.is_meta)
        if tensor.is_meta:
            body = _GAP
        elif tensor.numel() == 0:
            body = "[]"
        else:
            body = _numbers(_readable(tensor), len(prefix))
        return _append(prefix + body, suffixes, len(prefix))


__getattr__ = _lacking(__name__)
