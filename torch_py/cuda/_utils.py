"""Arguments that name a device."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py.cuda._init import _lazy_init


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index that a device, a string or a number names.

    -1 stands for the CPU if `allow_cpu`; None and "cuda" for the current device if `optional`. Raises
    ValueError for other devices and missing indices.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if isinstance(device, str):
        device = _C.device(device)

    if isinstance(device, _C.device):
        if device.type == "cpu" and allow_cpu:
            return -1
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        if device.index is not None:
            return int(device.index)
    elif device is not None:
        raise ValueError(f"Expected a torch.device, a string or an int as device, but got: {device!r}")

    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    _lazy_init()
    return int(_C._cuda_getDevice())
