"""Names for annotations: what the API takes as a number, a device, a size."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeAlias

from torch_py import _C
from torch_py._tensor import Tensor

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = "_C.device | str | builtins.int | None"
_bool: TypeAlias = builtins.bool
_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_dtype: TypeAlias = _C.dtype
_device: TypeAlias = _C.device
_layout: TypeAlias = _C.layout
_size: TypeAlias = "_C.Size | list[builtins.int] | tuple[builtins.int, ...]"
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
Storage: TypeAlias = Any
