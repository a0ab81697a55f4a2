"""The default tolerances of `assert_close` for each dtype."""

from __future__ import annotations

from typing import Any

from torch_py import _C

# Relative, absolute.
_BY_DTYPE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def default_tolerances(*dtypes: Any) -> tuple[float, float]:
    """(rtol, atol), the loosest of the dtypes; zeros for integers and bool."""
    found = [_BY_DTYPE.get(str(dtype).removeprefix("torch."), (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in found), max(atol for _, atol in found)


def dtype_of_number(value: Any) -> Any:
    """Of a Python number, or one of a class derived from them as NumPy's float64 is."""
    kinds = ((bool, _C.bool), (int, _C.int64), (float, _C.float64), (complex, _C.complex128))
    return next(dtype for kind, dtype in kinds if isinstance(value, kind))
