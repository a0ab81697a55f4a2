"""Helpers for optimizers of other packages: whether `torch_py._foreach_*` supports tensors, and lists of
tensors grouped by device and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._C import _get_privateuse1_backend_name, float32, float64
from torch_py._C import device as Device
from torch_py._C import dtype as DType
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter

__all__: list[str] = []

# Other subclasses may need to see every call.
_foreach_supported_types: list[type] = [Tensor, Parameter]

Group = tuple[list[list[Any]], list[int]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The types of devices, other than the CPU, whose operators take lists of tensors."""
    return ["cuda", _get_privateuse1_backend_name()]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The types of devices with fused kernels for optimizer steps."""
    return ["cuda", "cpu", _get_privateuse1_backend_name()]


def _device_has_foreach_support(device: Device) -> bool:
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: Sequence[Tensor], device: Device) -> bool:
    """Whether lists on `device` are supported, and all of `tensors` are plain tensors or parameters."""
    return _device_has_foreach_support(device) and all(type(t) in _foreach_supported_types for t in tensors)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Device, DType], Group]:
    """Splits corresponding lists of tensors by the device and dtype of the tensors in the first list.

    Returns {(device, dtype): (lists, positions)}; the positions are empty unless `with_indices` is set. An
    empty list stays empty. Raises RuntimeError if lists have different lengths, if the first contains None,
    and if tensors in the same position differ in device or dtype, unless they are floating-point numbers on
    the CPU, like step counts.
    """
    lists = [list(given) for given in tensorlistlist]
    if not lists or not lists[0]:
        raise RuntimeError(
            "_group_tensors_by_device_and_dtype: the first list of tensors is missing or empty"
        )

    for position, given in enumerate(lists):
        if given and len(given) != len(lists[0]):
            raise RuntimeError(
                f"_group_tensors_by_device_and_dtype: list {position} has {len(given)} tensors, but the "
                f"first has {len(lists[0])}"
            )

    found: dict[tuple[Device, DType], Group] = {}
    for index, first in enumerate(lists[0]):
        if first is None:
            raise RuntimeError(
                f"_group_tensors_by_device_and_dtype: tensor {index} of the first list is None"
            )

        columns, indices = found.setdefault((first.device, first.dtype), ([[] for _ in lists], []))
        for column, given in zip(columns, lists):
            if given:
                _check_alike(first, given[index], index)
                column.append(given[index])
        if with_indices:
            indices.append(index)

    return found


def _check_alike(first: Tensor, other: Tensor | None, index: int) -> None:
    if other is None or (other.device == first.device and other.dtype == first.dtype):
        return
    if other.device.type != "cpu" or other.dtype not in (float32, float64):
        kinds = f"{first.dtype} on {first.device} and {other.dtype} on {other.device}"
        raise RuntimeError(f"_group_tensors_by_device_and_dtype: tensors {index} are {kinds}")
