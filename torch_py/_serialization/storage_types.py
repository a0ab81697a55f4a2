"""The typed storages that files name, such as torch.FloatStorage, and the dtype of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from torch_py import _C

# Names of methods that convert, with the dtype of each.
CONVERSIONS = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "bfloat16": "bfloat16",
    "complex_double": "complex128",
    "complex_float": "complex64",
}
_STORAGE_NAMES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}


class StorageType(NamedTuple):
    """Stands for a class such as torch.FloatStorage."""

    name: str
    dtype: Any


@cache
def storage_types() -> dict[str, StorageType]:
    return {
        name: StorageType(name, getattr(_C, dtype))
        for name, dtype in _STORAGE_NAMES.items()
        if hasattr(_C, dtype)
    }


# A storage of bytes, for the dtypes that have no class of their own; their tensors name the dtype.
UNTYPED = StorageType("UntypedStorage", _C.uint8)


@cache
def storage_type_of(dtype: Any) -> StorageType:
    """The class that files name for a storage of tensors of `dtype`."""
    return next((kind for kind in storage_types().values() if kind.dtype == dtype), UNTYPED)


def has_storage_type(dtype: Any) -> bool:
    return storage_type_of(dtype) is not UNTYPED


def element_size(dtype: Any) -> int:
    """Bytes of an element."""
    return _C._torch.empty((), dtype=dtype).element_size()


class StorageFile:
    """A storage as the bytes of a file, which is how pickles contain one.

    `torch_py.serialization`, which is above the storages, sets both functions.
    """

    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]
