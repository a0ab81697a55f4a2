"""Switches of cuDNN, which computes convolutions on CUDA where it is installed (`nvidia-cudnn-cu13`).

| switch | at first | meaning |
|---|---|---|
| `enabled` | True | whether cuDNN may compute convolutions; without it they are products of matrices |
| `allow_tf32` | True | whether float32 operands may be rounded to TF32, which has ten bits of mantissa |
| `deterministic` | False | only algorithms that give the same bits in every run |
| `benchmark` | False | time a few algorithms when a convolution is first computed, and keep the fastest |
| `benchmark_limit` | 10 | how many algorithms `benchmark` times at most; 0 for all |

`flags` sets them inside a block. `torch.use_deterministic_algorithms(True)` implies `deterministic`.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any

from torch_py import _C
from torch_py.backends._switches import switched

fp32_precision = "none"

_DTYPES = ("float16", "bfloat16", "float32", "float64")


def _setting(name: str, kind: type) -> Any:
    """A property for a setting of the library."""

    def get(module: ModuleType) -> Any:
        return kind(_C._convolution_setting(name))

    def put(module: ModuleType, value: Any) -> None:
        _C._set_convolution_setting(name, kind(value))

    return property(get, put)


class _Module(ModuleType):
    """This module, whose switches are settings of the library."""

    enabled = _setting("enabled", bool)
    benchmark = _setting("benchmark", bool)
    benchmark_limit = _setting("benchmark_limit", int)
    deterministic = _setting("deterministic", bool)

    @property
    def allow_tf32(self) -> bool:
        return bool(_C._tf32_allowed(True))

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _C._allow_tf32(True, bool(allowed))


sys.modules[__name__].__class__ = _Module


def is_available() -> bool:
    """Whether cuDNN is installed and torch_py can use it."""
    return version() is not None


def version() -> int | None:
    """The version of cuDNN as one number: 91002 is 9.10.2. None if cuDNN or the CUDA library is missing."""
    return int(_C._convolution_library_version()) or None


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN may compute convolutions of a tensor with this device and dtype."""
    dtype = str(tensor.dtype).rpartition(".")[2]
    return tensor.device.type == "cuda" and dtype in _DTYPES and _enabled() and is_available()


def _enabled() -> bool:
    return bool(_C._convolution_setting("enabled"))


def _refused() -> list[tuple[str, str]]:
    """Convolutions that cuDNN has refused, which were computed without it, each with a reason."""
    found: list[tuple[str, str]] = _C._refused_convolutions()
    return found


def flags(
    enabled: bool | None = False,
    benchmark: bool | None = False,
    benchmark_limit: int | None = 10,
    deterministic: bool | None = False,
    allow_tf32: bool | None = True,
    fp32_precision: str | None = "none",
) -> contextlib.AbstractContextManager[None]:
    """Sets the switches inside a block. A switch that is not named gets the default of this function,
    as in PyTorch, not what it was: `flags(allow_tf32=False)` turns cuDNN off, too.

    Example:
        >>> with torch.backends.cudnn.flags(enabled=True, deterministic=True):
        ...     torch.backends.cudnn.deterministic
        True
    """
    return switched(sys.modules[__name__], dict(locals()))
