"""C++ spellings of dtypes."""

from __future__ import annotations

# Canonical dtype name -> constant in at.
DTYPE_CONSTANTS = {
    "uint8": "kByte", "int8": "kChar", "int16": "kShort", "int32": "kInt", "int64": "kLong", "float16": "kHalf",
    "bfloat16": "kBFloat16", "float32": "kFloat", "float64": "kDouble", "complex64": "kComplexFloat",
    "complex128": "kComplexDouble", "bool": "kBool",
}  # fmt: skip
