"""Whether `torch_py._foreach_*` suits tensors, and lists of tensors sorted by device and dtype, as optimizers
of others ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._C import device as Device
from torch_py._C import dtype as DType
from torch_py._C import float32, float64
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter

__all__: list[str] = []

# Subclasses may want to see every call.
_foreach_supported_types: list[type] = [Tensor, Parameter]

Group = tuple[list[list[Any]], list[int]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Types of devices beside the CPU that take lists of tensors."""
    return ["cuda", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Types of devices that steps of optimizers have kernels for."""
    return ["cuda", "cpu", "privateuseone"]


def _device_has_foreach_support(device: Device) -> bool:
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: Sequence[Tensor], device: Device) -> bool:
    """Whether lists on `device` are supported, and all of `tensors` are tensors or parameters and not of
    another subclass."""
    return _device_has_foreach_support(device) and all(type(t) in _foreach_supported_types for t in tensors)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Device, DType], Group]:
    """Splits lists that belong together by the device and the dtype of the tensors in the first.

    (device, dtype) -> the lists of those places, and with `with_indices` the places. An empty list stays
    empty. Raises RuntimeError for lists of other lengths than the first, None in the first, and tensors at
    one place that differ, unless they are floating point numbers on the CPU, as counts of steps are.
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
