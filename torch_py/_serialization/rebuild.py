"""Taking tensors apart for a pickle and putting them together again, with the checks that data from a file needs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from torch_py import _C
from torch_py._tensor import Tensor, whole_storage


class LoadedStorage(NamedTuple):
    """Bytes from a file, as a uint8 tensor, and the dtype they are elements of."""

    data: Any
    dtype: Any


def storage_bytes(storage: Any) -> memoryview:
    """The memory of a storage, writable, as bytes."""
    return memoryview(storage).cast("B") if storage.nbytes() else memoryview(b"")


def empty_storage(nbytes: int) -> Any:
    """A uint8 tensor that owns new memory."""
    return _C._torch.empty(nbytes, dtype=_C.uint8)


def _check_geometry(storage: Any, offset: Any, size: Any, stride: Any) -> None:
    if not isinstance(storage, LoadedStorage):
        raise RuntimeError(f"expected a storage to make a tensor of, got {type(storage).__name__}")
    numbers = [offset, *size, *stride]
    if len(size) != len(stride) or not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise RuntimeError(f"expected sizes and strides of the same length, none negative, got {size}, {stride} and offset {offset}")
    available = storage.data.numel() // storage.dtype.itemsize
    needed = 0 if 0 in size else offset + 1 + sum((length - 1) * step for length, step in zip(size, stride))
    if needed > available:
        raise RuntimeError(
            f"a tensor of size {tuple(size)}, strides {tuple(stride)} and offset {offset} needs {needed} elements, its storage has {available}"
        )


def rebuild_tensor(
    storage: Any, offset: Any, size: Sequence[int], stride: Sequence[int], requires_grad: bool, hooks: Any, metadata: Any = None
) -> Any:
    """A tensor over `storage`. Raises RuntimeError when it would reach outside, or for metadata that this build does not know."""
    _check_geometry(storage, offset, size, stride)
    if metadata:
        raise RuntimeError(f"tensors with metadata {sorted(metadata)} are not supported")
    tensor: Any = _C._torch.empty(0, dtype=storage.dtype)
    tensor.set_(storage.data.untyped_storage(), offset, tuple(size), tuple(stride))
    return tensor.requires_grad_(bool(requires_grad)) if requires_grad else tensor


def rebuild_parameter(data: Any, requires_grad: bool, hooks: Any) -> Any:
    from torch_py.nn.parameter import Parameter

    return Parameter(data, bool(requires_grad))


def rebuild_parameter_with_state(data: Any, requires_grad: bool, hooks: Any, state: Any) -> Any:
    parameter = rebuild_parameter(data, requires_grad, hooks)
    parameter.__setstate__(_attributes(state))
    return parameter


def rebuild_from_type(function: Any, kind: Any, arguments: tuple[Any, ...], state: Any) -> Any:
    """A tensor with attributes, or of a subclass."""
    tensor = function(*arguments)
    kind = getattr(kind, "allowed", kind)
    if not isinstance(tensor, Tensor) or not (isinstance(kind, type) and issubclass(kind, Tensor)):
        raise RuntimeError(f"expected a function that makes a tensor and a tensor type, got {function} and {kind}")
    if type(tensor) is not kind:
        tensor = tensor.as_subclass(kind)
    tensor.__setstate__(_attributes(state))
    return tensor


def _attributes(state: Any) -> dict[str, Any]:
    """State is a dict, or a pair of a dict and the values of slots."""
    attributes: dict[str, Any] = {}
    for part in state if isinstance(state, tuple) else (state,):
        attributes.update(part or {})
    return attributes


def archive_parts(tensor: Any, reference: Any) -> tuple[Any, ...]:
    """What a pickle inside of an archive has for `tensor`; `reference` stands for its storage there."""
    from torch_py.nn.parameter import Parameter

    parts = (reference, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
    state = dict(vars(tensor))
    if type(tensor) is Parameter:
        data = _Unattached((rebuild_tensor, (*parts, False, OrderedDict())))
        if state:
            return rebuild_parameter_with_state, (data, tensor.requires_grad, OrderedDict(), state)
        return rebuild_parameter, (data, tensor.requires_grad, OrderedDict())
    arguments: tuple[Any, ...] = (*parts, tensor.requires_grad, OrderedDict())
    if type(tensor) is Tensor and not state:
        return rebuild_tensor, arguments
    return rebuild_from_type, (rebuild_tensor, type(tensor), arguments, state)


class _Unattached:
    """A value that is written as the call that makes it."""

    def __init__(self, call: tuple[Any, ...]) -> None:
        self.call = call

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


def reduce_tensor(tensor: Any) -> tuple[Any, ...]:
    """For `pickle` and `copy` without an archive: the bytes between the first and the last element."""
    if not tensor.is_leaf and type(tensor).__module__ == "torch_py.nn.parameter":
        raise RuntimeError("expected a parameter to be a leaf")
    if tensor.device.type != "cpu":
        raise NotImplementedError(f"pickling tensors on device '{tensor.device}' is not supported")
    size, stride, itemsize = tuple(tensor.shape), tuple(tensor.stride()), tensor.element_size()
    extent = 0 if 0 in size else 1 + sum((length - 1) * step for length, step in zip(size, stride))
    start = tensor.storage_offset() * itemsize
    data = bytes(storage_bytes(tensor.untyped_storage())[start : start + extent * itemsize])
    name = str(tensor.dtype).removeprefix("torch.")
    return rebuild_from_bytes, (type(tensor), data, name, size, stride, tensor.requires_grad), vars(tensor) or None


def rebuild_from_bytes(kind: type, data: bytes, dtype: str, size: Any, stride: Any, requires_grad: bool) -> Any:
    storage = empty_storage(len(data))
    storage_bytes(storage.untyped_storage())[:] = data
    tensor = rebuild_tensor(LoadedStorage(storage, getattr(_C, dtype)), 0, size, stride, False, None)
    return tensor.requires_grad_(requires_grad) if kind is Tensor else cast(Any, _C.TensorBase)._make_subclass(kind, tensor, requires_grad)


__all__ = ["LoadedStorage", "archive_parts", "empty_storage", "rebuild_tensor", "reduce_tensor", "storage_bytes", "whole_storage"]
