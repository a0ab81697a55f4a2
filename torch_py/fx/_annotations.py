"""What printed code says about values: types of Python, and shapes and dtypes of tensors."""

from __future__ import annotations

import types
import typing
from typing import Any

from torch_py._tensor import Tensor
from torch_py.fx._names import type_repr

if typing.TYPE_CHECKING:
    from torch_py.fx._expressions import Globals

_SHORT_DTYPES = {
    "bfloat16": "bf16",
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "b8",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
}


def annotation(kind: Any, globals_: Globals) -> str:
    """A type as an expression of the printed code."""
    if kind is None or kind is type(None):
        return "None"
    if isinstance(kind, str):
        return repr(kind)
    if isinstance(kind, typing.ForwardRef):
        return repr(kind.__forward_arg__)
    if kind is ...:
        return "..."
    if isinstance(kind, list):  # the parameters of Callable
        return "[" + ", ".join(annotation(part, globals_) for part in kind) + "]"

    parts = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        return " | ".join(annotation(part, globals_) for part in parts)
    if parts:
        inside = ", ".join(annotation(part, globals_) for part in parts)
        return f"{_origin(kind, globals_)}[{inside}]"

    return globals_.name_of(type_repr(kind), kind)


def _origin(kind: Any, globals_: Globals) -> str:
    """The generic type without its parameters."""
    if isinstance(kind, types.GenericAlias):  # list[int]
        return globals_.name_of(type_repr(kind.__origin__), kind.__origin__)
    name = getattr(kind, "_name", None) or kind.__origin__._name  # List in List[int]
    if name == "Optional":
        name = "Union"
    return globals_.name_of(f"typing.{name}", getattr(typing, name))


def tensor_summary(value: Any, *, stride: bool = False, device: bool = False) -> str:
    """`f32[2, 3]` for a tensor, with strides and the device if they are wanted, and for metadata of one.

    Nests of tensors give nests of texts, and other values nothing.
    """
    if isinstance(value, Tensor):
        text = _dtype_and_shape(value)
        if stride:
            text += str(list(value.stride()))
        return text + (str(value.device) if device else "")
    if hasattr(value, "memory_format") and hasattr(value, "dtype"):
        return _dtype_and_shape(value)
    if isinstance(value, (tuple, list)):
        inside = ", ".join(tensor_summary(item, stride=stride, device=device) for item in value)
        return f"({inside})"
    return ""


def _dtype_and_shape(value: Any) -> str:
    dtype = str(value.dtype).removeprefix("torch.")
    return f"{_SHORT_DTYPES.get(dtype, dtype)}{list(value.shape)}"
