"""Dtypes that conversions and copies are tried with."""

from __future__ import annotations

from tests.ops.samples.make import Make

_DTYPES = (
    "float32",
    "float64",
    "bfloat16",
    "float16",
    "int64",
    "int32",
    "uint8",
    "int8",
    "bool",
    "complex64",
    "complex128",
)


def targets(make: Make) -> tuple[str, ...]:
    if make.requires_grad:
        return ("complex128", "complex64") if make.is_complex else ("float64", "float32", "complex128")
    # Complex numbers lose their imaginary part with a warning. Conversion of a float out of range is
    # undefined.
    return ("complex64", "complex128") if make.is_complex else _DTYPES
