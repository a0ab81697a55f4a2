"""Exchanges tensors with other libraries by DLPack, without a copy."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from torch_py._functional import from_dlpack as from_dlpack
from torch_py._tensor import Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """The kinds of devices with DLPack's numbers."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule that shares the tensor's memory; the `from_dlpack` of another library accepts it once."""
    return tensor.__dlpack__()
