"""dtypes by kind, and the standard's rules of type promotion."""

from __future__ import annotations

from functools import reduce
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_REAL = ("float32", "float64")
_COMPLEX = ("complex64", "complex128")
_KINDS = {
    "bool": ("bool",),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _REAL + _COMPLEX,
    "all": ("bool", *_SIGNED, *_UNSIGNED, *_REAL, *_COMPLEX),
}


def dtypes_of(kind: str) -> dict[str, Any]:
    """The dtypes of a kind that this build has, by name.

    Raises ValueError for a kind that the standard does not know.
    """
    if kind not in _KINDS:
        raise ValueError(
            f"unrecognized data type kind: {kind!r}; expected one of {', '.join(map(repr, _KINDS))}"
        )
    return {name: getattr(_C, name) for name in _KINDS[kind] if hasattr(_C, name)}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether `dtype` is `kind`: a dtype, a name such as 'integral', or
    a tuple of those, of which one must fit."""
    if not isinstance(dtype, _C.dtype):
        raise TypeError(f"isdtype(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")

    if isinstance(kind, tuple):
        return any(isdtype(dtype, part) for part in kind)
    if isinstance(kind, _C.dtype):
        return dtype == kind
    if not isinstance(kind, str):
        raise TypeError(
            f"isdtype(): argument 'kind' must be a dtype, str or tuple, not {type(kind).__name__}"
        )

    if kind in ("real floating", "numeric") and dtype.is_floating_point:
        return True  # also float16 and bfloat16, which the standard allows in addition to its own
    return kind != "all" and dtype in dtypes_of(kind).values()


def _of_number(number: Any, dtype: Any) -> Any:
    """The dtype of a tensor of `dtype` together with a Python number, which has a kind but no width."""
    if isinstance(number, complex):
        return dtype if dtype.is_complex else _C.promote_types(dtype, _C.complex64)
    if isinstance(number, float):
        return dtype if dtype.is_floating_point or dtype.is_complex else _C.get_default_dtype()
    if isinstance(number, bool) or dtype != _C.bool:
        return dtype
    return _C.int64


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of arithmetic on all arguments: tensors, dtypes and Python numbers.

    Raises ValueError without a tensor or dtype.
    """
    numbers = [value for value in arrays_and_dtypes if isinstance(value, (bool, int, float, complex))]
    dtypes = [
        value.dtype if isinstance(value, Tensor) else value
        for value in arrays_and_dtypes
        if not isinstance(value, (int, float, complex))
    ]

    if not dtypes:
        raise ValueError("result_type(): at least one array or dtype is required")
    for dtype in dtypes:
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"result_type(): expected arrays, dtypes and numbers, got {type(dtype).__name__}")

    result = reduce(_C.promote_types, dtypes)
    for number in numbers:
        result = _of_number(number, result)
    return result


def promoted(name: str, *operands: Any) -> tuple[Any, ...]:
    """The operands as tensors of their common dtype.

    Raises TypeError unless one is a tensor and the others are tensors or numbers.
    """
    if not any(isinstance(operand, Tensor) for operand in operands):
        raise TypeError(
            f"{name}(): expected at least one array, "
            f"got {', '.join(type(operand).__name__ for operand in operands)}"
        )

    for operand in operands:
        if not isinstance(operand, (Tensor, bool, int, float, complex)):
            raise TypeError(f"{name}(): expected arrays and numbers, got {type(operand).__name__}")

    dtype = result_type(*operands)
    device = next(operand.device for operand in operands if isinstance(operand, Tensor))
    return tuple(
        o.to(dtype) if isinstance(o, Tensor) else _C._torch.scalar_tensor(o, dtype=dtype, device=device)
        for o in operands
    )


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion turns the dtype `from_`, or that of a tensor, into `to`."""
    return bool(_C.promote_types(from_.dtype if isinstance(from_, Tensor) else from_, to) == to)


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """`x` converted; without `copy` it is `x` itself where nothing changes."""
    return x.to(dtype=dtype, device=x.device if device is None else device, copy=copy)


def finfo(type: Any, /) -> Any:
    """Limits of a floating-point dtype, or that of a tensor."""
    return _C.finfo(type.dtype if isinstance(type, Tensor) else type)


def iinfo(type: Any, /) -> Any:
    """Limits of an integer dtype, or that of a tensor."""
    return _C.iinfo(type.dtype if isinstance(type, Tensor) else type)
