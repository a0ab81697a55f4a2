"""The dtypes of loops: those that kernels have a C++ type for, and the one each is computed in."""

from __future__ import annotations

from typing import Any

from torch_py import _C

TRUTH = _C.bool
FLOAT = _C.float32
LONG = _C.int64

# dtype -> its C++ type.
CPP = {
    _C.float64: "double",
    _C.float32: "float",
    _C.float16: "c10::Half",
    _C.bfloat16: "c10::BFloat16",
    _C.int64: "int64_t",
    _C.int32: "int32_t",
    _C.int16: "int16_t",
    _C.int8: "int8_t",
    _C.uint8: "uint8_t",
    _C.bool: "bool",
}
_SHORT_FLOATS = (_C.float16, _C.bfloat16)


def is_short_float(dtype: Any) -> bool:
    """Whether numbers of a dtype have 16 bits and are computed as float."""
    return dtype in _SHORT_FLOATS


def arithmetic_dtype(dtype: Any) -> Any:
    """The dtype in which numbers of a dtype are computed."""
    return FLOAT if dtype in _SHORT_FLOATS else dtype
