"""`torch._refs`: in PyTorch, operators written in Python; here, the operators of `torch` themselves."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._functional import broadcast_tensors
from torch_py._tensor import Tensor

tensor = _C.tensor


def _maybe_broadcast(*args: Any, preserve_cpu_scalar_tensors: bool = True) -> list[Any]:
    """The tensors among `args` expanded to their common shape; numbers and None stay as they are.

    With `preserve_cpu_scalar_tensors`, tensors without dimensions stay as they are, too.
    """

    def takes_part(value: Any) -> bool:
        return isinstance(value, Tensor) and not (preserve_cpu_scalar_tensors and value.dim() == 0)

    for value in args:
        if value is not None and not isinstance(value, (Tensor, int, float, complex)):
            raise RuntimeError(f"Unexpected type when broadcasting: {type(value)}!")
    wide = iter(broadcast_tensors(*(value for value in args if takes_part(value))))
    return [next(wide) if takes_part(value) else value for value in args]


def __getattr__(name: str) -> Any:
    for place in (_C._torch, _C._nn, _C._special, _C._linalg):
        if not name.startswith("_") and hasattr(place, name):
            return getattr(place, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
