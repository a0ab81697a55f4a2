"""Process-wide settings and questions about the build: default dtype and device, determinism, warnings, printing."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._tensor_str import set_printoptions

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device", "get_float32_matmul_precision", "is_deterministic_algorithms_warn_only_enabled",
    "is_inference_mode_enabled", "set_default_device", "set_default_dtype", "set_float32_matmul_precision", "set_printoptions",
    "use_deterministic_algorithms",
]  # fmt: skip

_DEFAULT_FLOATING = ("float16", "bfloat16", "float32", "float64")
_MATMUL_PRECISIONS = ("highest", "high", "medium")
_state: dict[str, Any] = {"deterministic": False, "warn_only": False, "matmul_precision": "highest"}


def set_default_dtype(dtype: Any) -> None:
    """Makes `dtype` what floating-point numbers become when no dtype is given; the complex default follows.

    Raises TypeError unless `dtype` is float16, bfloat16, float32 or float64.
    """
    if not isinstance(dtype, _C.dtype) or dtype not in [getattr(_C, name) for name in _DEFAULT_FLOATING]:
        raise TypeError(f"set_default_dtype: expected a floating-point torch.dtype ({', '.join(_DEFAULT_FLOATING)}), got {dtype}")
    _C.set_default_dtype(dtype)


def get_default_device() -> Any:
    """The device on which tensors are created when none is named: the CPU."""
    return _C.device("cpu")


def set_default_device(device: Any) -> None:
    """Accepts the CPU or None, the only default there is; raises RuntimeError for another device."""
    if device is not None and _C.device(device).type != "cpu":
        raise RuntimeError(f"set_default_device: only 'cpu' can be the default device in this build, got {device!r}")


def is_inference_mode_enabled() -> bool:
    return _C.is_inference_mode_enabled()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remembers the wish; every CPU operator here is deterministic whatever it says."""
    _state.update(deterministic=bool(mode), warn_only=bool(warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    return bool(_state["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    return bool(_state["warn_only"])


def set_float32_matmul_precision(precision: str) -> None:
    """Allows faster, less exact float32 products on devices that have them; the CPU always computes in full precision."""
    if precision not in _MATMUL_PRECISIONS:
        raise ValueError(f"set_float32_matmul_precision: expected one of {', '.join(_MATMUL_PRECISIONS)}, got {precision!r}")
    _state["matmul_precision"] = precision


def get_float32_matmul_precision() -> str:
    return str(_state["matmul_precision"])
