"""Defaults that follow from an entry's schema and structure: its module, kernel, shape rule and samples."""

from __future__ import annotations

from codegen.dialect import PRIVATE, Dialect
from codegen.schema import FunctionSchema

# Private operators are tested through the operators that call them.
PRIVATE_SAMPLES = "skip_private"


def cpp_name(schema: FunctionSchema) -> str:
    """``arange_start`` for ``arange.start``, ``squeeze_dim_`` for ``squeeze_.dim``."""
    overload = schema.overload_name.lower()
    if not overload:
        return schema.base_name
    if schema.base_name.endswith("_") and not schema.base_name.endswith("__"):
        return f"{schema.base_name}{overload}_"
    return f"{schema.base_name}_{overload}"


def python_module(schema: FunctionSchema, dialect: Dialect) -> str:
    """``linalg`` for ``linalg_det``, ``private`` for ``_to_copy``, otherwise the main module."""
    name = schema.base_name
    if name.startswith("_") and not schema.name.name.dunder:
        return PRIVATE
    prefix, _, rest = name.partition("_")
    return prefix if rest and prefix in dialect.prefixed_modules else dialect.modules[0]


def shape_rule(schema: FunctionSchema) -> str:
    """``sort_shape`` for ``sort``."""
    return f"{cpp_name(schema).strip('_')}_shape"


def samples(schema: FunctionSchema, module: str) -> str:
    """The generator with the operator's C++ name."""
    return PRIVATE_SAMPLES if module == "private" else cpp_name(schema)


def out_dtype(schema: FunctionSchema, structure: str) -> str:
    """Loops cast their result, and so do operators where a ``dtype``, or a list of tensors of any dtypes,
    decides the dtype of the result."""
    decides = any(
        a.type.base.name == "ScalarType" or (a.type.is_tensor_like and a.type.is_list)
        for a in schema.arguments
    )
    return "castable" if decides or structure in ("pointwise", "reduction") else "exact"
