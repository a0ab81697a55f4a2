"""Types for annotations of numbers, devices, sizes and dtypes, as PyTorch names them."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, Optional, TypeAlias, Union

from torch_py import _C
from torch_py._tensor import Tensor

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = Optional[Union[_C.device, str, builtins.int]]  # noqa: UP007, UP045  # the native type has no |
_bool: TypeAlias = builtins.bool
_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_dtype: TypeAlias = _C.dtype
_device: TypeAlias = _C.device
_layout: TypeAlias = _C.layout
_size: TypeAlias = Union[_C.Size, list[builtins.int], tuple[builtins.int, ...]]  # noqa: UP007
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
Storage: TypeAlias = Any
_complex: TypeAlias = builtins.complex
_symint: TypeAlias = builtins.int
_Number = (builtins.bool, builtins.int, builtins.float)
PyNumber: TypeAlias = builtins.int | builtins.float | builtins.complex
IntLikeType: TypeAlias = builtins.int
FloatLikeType: TypeAlias = builtins.float
BoolLikeType: TypeAlias = builtins.bool
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
py_sym_types: tuple[type, ...] = ()  # nothing is symbolic here: isinstance() is False
