"""Queries about dtypes and shapes, and checks, that programs import from `torch._prims_common`."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor

ShapeType = Sequence[int]
StrideType = Sequence[int]
DimsType = int | Sequence[int]
DeviceLikeType = str | _C.device | int
Number = bool | int | float | complex
NumberType = type[bool] | type[int] | type[float] | type[complex]
TensorLike = Tensor
TensorLikeType = Tensor

_COMPLEX_OF = {_C.float16: _C.complex32, _C.bfloat16: _C.complex64} | {
    _C.float32: _C.complex64,
    _C.float64: _C.complex128,
}
_REAL_OF = {_C.complex32: _C.float16, _C.complex64: _C.float32, _C.complex128: _C.float64}
_COMPUTED_IN = {_C.float16: _C.float32, _C.bfloat16: _C.float32, _C.complex32: _C.complex64}


def check(b: bool, s: Callable[[], str], exc_type: type[Exception] = RuntimeError) -> None:
    """Raises `exc_type` with the text that `s()` returns unless `b` is true."""
    if not b:
        raise exc_type(s())


def is_boolean_dtype(dtype: Any) -> bool:
    return bool(dtype == _C.bool)


def is_float_dtype(dtype: Any) -> bool:
    return bool(dtype.is_floating_point)


def is_complex_dtype(dtype: Any) -> bool:
    return bool(dtype.is_complex)


def is_integer_dtype(dtype: Any) -> bool:
    """Whether the dtype is an integer."""
    return not (dtype.is_floating_point or dtype.is_complex or is_boolean_dtype(dtype))


def corresponding_real_dtype(dtype: Any) -> Any:
    """The dtype of the parts of complex numbers. Raises KeyError for another dtype."""
    return _REAL_OF[dtype]


def corresponding_complex_dtype(dtype: Any) -> Any:
    """The dtype of complex numbers with such parts. Raises KeyError for another dtype."""
    return _COMPLEX_OF[dtype]


def get_computation_dtype(dtype: Any) -> Any:
    """The dtype that numbers of narrow dtypes are computed in."""
    return _COMPUTED_IN.get(dtype, dtype)


class ELEMENTWISE_TYPE_PROMOTION_KIND(enum.Enum):
    """How the dtypes of arguments lead to that of a result."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


def elementwise_dtypes(*_args: Any, type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND) -> tuple[Any, Any]:
    """The dtype to compute in, and that of the result, of an operator on tensors and numbers.

    Raises RuntimeError without a tensor or number among the arguments.
    """
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    given = [value for value in _args if isinstance(value, (Tensor, bool, int, float, complex))]
    if not given:
        raise RuntimeError("elementwise_dtypes: expected tensors or numbers")
    result = _common_dtype(given)

    if type_promotion_kind is kinds.NO_OPMATH:
        return result, result
    if type_promotion_kind is kinds.BOOL_TO_LONG and is_boolean_dtype(result):
        return _C.int64, _C.int64
    if type_promotion_kind is kinds.ALWAYS_BOOL:
        return get_computation_dtype(result), _C.bool
    if type_promotion_kind is kinds.INT_TO_FLOAT and not (is_float_dtype(result) or is_complex_dtype(result)):
        result = _C.get_default_dtype()
    if type_promotion_kind is kinds.COMPLEX_TO_FLOAT and is_complex_dtype(result):
        return get_computation_dtype(result), corresponding_real_dtype(result)
    return get_computation_dtype(result), result


def _common_dtype(values: list[Any]) -> Any:
    """The dtype of a sum of the values.

    Tensors with dimensions decide; those without, and then numbers, only if they are of a higher kind:
    booleans, integers, real and complex numbers.
    """
    tensors = [value for value in values if isinstance(value, Tensor)]
    groups = (
        [value.dtype for value in tensors if value.dim() > 0],
        [value.dtype for value in tensors if value.dim() == 0],
        [_C.tensor(value).dtype for value in values if not isinstance(value, Tensor)],
    )

    result = None
    for group in groups:
        dtype = functools.reduce(_C.promote_types, group) if group else None
        if result is None or dtype is None:
            result = dtype if result is None else result
        elif _rank(dtype) > _rank(result):
            result = _C.promote_types(result, dtype) if _rank(dtype) == _COMPLEX else dtype
    return result


_COMPLEX = 3


def _rank(dtype: Any) -> int:
    """The kind of a dtype; complex numbers include the others."""
    if is_complex_dtype(dtype):
        return _COMPLEX
    return 2 if is_float_dtype(dtype) else int(is_integer_dtype(dtype))


def infer_size(shape: ShapeType, numel: int) -> tuple[int, ...]:
    """`shape` with a -1 replaced by the size that gives `numel` elements.

    Raises RuntimeError if no size does, or if several sizes are -1.
    """
    return tuple(_C._torch.empty(numel, device="meta").view(tuple(shape)).shape)


def is_contiguous_or_false(a: Any, memory_format: Any = None) -> bool:
    """Whether the elements are contiguous in memory."""
    return bool(a.is_contiguous() if memory_format is None else a.is_contiguous(memory_format=memory_format))


__getattr__ = _lacking(__name__)
