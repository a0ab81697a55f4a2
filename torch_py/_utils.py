"""Helpers that programs take from `torch._utils`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._serialization.storage_types import element_size as _element_size  # noqa: F401  # PyTorch's name
from torch_py._tensor import Tensor


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """The elements of all tensors in one dimension, one tensor after another.

    A single tensor is viewed, several are copied.
    """
    flat = [tensor.contiguous().view(-1) for tensor in tensors]
    return flat[0] if len(flat) == 1 else _torch.cat(flat)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of consecutive parts of `flat` in the shapes of `tensors`."""
    results = []
    offset = 0
    for tensor in tensors:
        count = tensor.numel()
        # A view of nothing would keep all of `flat` alive.
        results.append(
            flat.narrow(0, offset, count).view(tensor.shape) if count else flat.new_empty(tensor.shape)
        )
        offset += count
    return tuple(results)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one type, each of at most `size_limit`
    bytes; a larger tensor is a group of its own."""
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind, size = tensor.type(), tensor.numel() * tensor.element_size()  # type: ignore[attr-defined]
        group, total = groups.get(kind, ([], 0))
        if group and total + size > size_limit:
            yield group
            group = []
            total = 0
        group.append(tensor)
        groups[kind] = (group, total + size)
    yield from (group for group, _ in groups.values() if group)


def is_compiling() -> bool:
    """Whether the call is captured: True in code that is compiled, False elsewhere."""
    return False


def _get_available_device_type() -> None:
    return None


def _get_device_module(device_type: str | None = None) -> Any:
    """The module of a kind of device, `torch.cpu` and its like. Raises RuntimeError for one without."""
    package = sys.modules["torch_py"]  # above this module, which it imports
    module = getattr(package, device_type or "cpu", None)
    if module is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as "
            f"'torch.{device_type}'."
        )
    return module


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device; -1 for the CPU where it is allowed. Raises ValueError elsewhere."""
    if isinstance(device, int):
        return device
    if device is None and optional and _C._cuda_getDeviceCount() > 0:
        return int(_C._cuda_getDevice())

    found = _C.device(device) if device is not None else _C.device("cpu")
    if found.type == "cpu" and not allow_cpu:
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    if found.type == "cuda" and found.index is None and optional and _C._cuda_getDeviceCount() > 0:
        return int(_C._cuda_getDevice())
    return -1 if found.index is None else int(found.index)


class ExceptionWrapper:
    """An exception with its traceback as text, to be raised again in another process."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        info = exc_info or sys.exc_info()
        self.exc_type = info[0]
        self.exc_msg = "".join(traceback.format_exception(*info))
        self.where = where

    def reraise(self) -> None:
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            raise KeyError(message)
        try:
            exception = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        raise exception


# Functions that files and pickles name. Modules above this one do the work.


def _rebuild_tensor(storage: Any, storage_offset: int, size: Sequence[int], stride: Sequence[int]) -> Any:
    return _rebuild_tensor_v2(storage, storage_offset, size, stride, False, None)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """A tensor over `storage`, a TypedStorage."""
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_tensor

    return rebuild_tensor(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """A tensor of `dtype` over the bytes of `storage`."""
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_tensor_of_bytes

    return rebuild_tensor_of_bytes(
        storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata
    )


def _rebuild_meta_tensor_no_storage(
    dtype: Any, size: Sequence[int], stride: Sequence[int], requires_grad: bool
) -> Any:
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_meta_tensor

    return rebuild_meta_tensor(dtype, size, stride, requires_grad)


def _rebuild_wrapper_subclass(
    cls: type,
    dtype: Any,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Any:
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_wrapper

    return rebuild_wrapper(cls, dtype, size, stride, storage_offset, layout, device, requires_grad)


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_parameter

    return rebuild_parameter(data, requires_grad, backward_hooks)


def _rebuild_parameter_with_state(data: Any, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    # Imported on first use: pickling needs typed storages and torch.nn.
    from torch_py._serialization.rebuild import rebuild_parameter_with_state

    return rebuild_parameter_with_state(data, requires_grad, backward_hooks, state)
