"""Switches of CUDA's libraries. All but `matmul.allow_tf32` are kept without effect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from torch_py import _C, _product_precision
from torch_py._pytorch_names.packages import lacking as _lacking


class _MatrixProducts:
    """Settings of matrix products. Sums of float16 and bfloat16 are always float32."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 operands may be rounded to TF32; `set_float32_matmul_precision` sets it, too."""
        return _product_precision.asked() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _product_precision.ask_for("high" if allowed else "highest")


matmul = _MatrixProducts()
cufft_plan_cache = SimpleNamespace(size=0, max_size=0, clear=lambda: None)
_ways = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "half_reduction": False}


def is_built() -> bool:
    """Whether there is a CUDA library."""
    return bool(_C._cuda_isLoaded())


def flash_sdp_enabled() -> bool:
    return _ways["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    _ways["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    return _ways["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    _ways["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    return _ways["math"]


def enable_math_sdp(enabled: bool) -> None:
    _ways["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    return _ways["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    _ways["cudnn"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    return _ways["half_reduction"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    _ways["half_reduction"] = bool(enabled)


def is_flash_attention_available() -> bool:
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    return False


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    return False


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    return False


def preferred_linalg_library(backend: Any = None) -> str:
    return "default"


def preferred_blas_library(backend: Any = None) -> str:
    return "default"


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[dict[Any, Any]]:
    """Ways through attention inside a block. The CPU chooses for itself."""
    before = dict(_ways)
    _ways.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _ways.update(before)


__getattr__ = _lacking(__name__)
