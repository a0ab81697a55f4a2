"""The dtypes: their names, aliases and C++ constants. Every list of dtypes is made from this one."""

from __future__ import annotations

# Canonical name -> constant in at, in the order of ScalarType, which promotion follows.
DTYPE_CONSTANTS = {
    "uint8": "kByte",
    "int8": "kChar",
    "int16": "kShort",
    "int32": "kInt",
    "int64": "kLong",
    "float16": "kHalf",
    "float32": "kFloat",
    "float64": "kDouble",
    "complex64": "kComplexFloat",
    "complex128": "kComplexDouble",
    "bool": "kBool",
    "bfloat16": "kBFloat16",
    "uint16": "kUInt16",
    "uint32": "kUInt32",
    "uint64": "kUInt64",
    "float8_e4m3fn": "kFloat8_e4m3fn",
    "float8_e5m2": "kFloat8_e5m2",
    "float8_e4m3fnuz": "kFloat8_e4m3fnuz",
    "float8_e5m2fnuz": "kFloat8_e5m2fnuz",
    "float8_e8m0fnu": "kFloat8_e8m0fnu",
    "complex32": "kComplexHalf",
}
DTYPES = tuple(DTYPE_CONSTANTS)
INTEGER_DTYPES = frozenset(name for name in DTYPES if name.startswith(("int", "uint")))

# Names of dtypes, from C and PyTorch.
DTYPE_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "byte": "uint8",
    "char": "int8",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
