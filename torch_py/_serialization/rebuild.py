"""Decomposes tensors for a pickle and rebuilds them, with the checks that data from a file needs."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

from torch_py import _C
from torch_py._serialization.storage_types import has_storage_type
from torch_py._tensor import Tensor, whole_storage
from torch_py._wrappers import is_wrapper, make_wrapper, parts_of
from torch_py.nn.parameter import Parameter
from torch_py.storage import TypedStorage


def typed_storage(data: Any, dtype: Any) -> Any:
    """A storage with elements of `dtype` over the bytes of `data`, a uint8 tensor."""
    return typed_storage_of(data.untyped_storage(), dtype)


def typed_storage_of(untyped: Any, dtype: Any) -> Any:
    """A storage with elements of `dtype` over an untyped storage."""
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


def storage_bytes(storage: Any) -> memoryview:
    """The memory of a storage as writable bytes; of a storage on a device, a copy."""
    return memoryview(storage.cpu()).cast("B") if storage.nbytes() else memoryview(b"")


def empty_storage(nbytes: int) -> Any:
    """A uint8 tensor with new memory."""
    return _C._torch.empty(nbytes, dtype=_C.uint8, device="cpu")


_MOST_DIMENSIONS = 64
_MOST_ELEMENTS = 2**62


def _check_numbers(offset: Any, size: Any, stride: Any) -> None:
    """Raises RuntimeError for sizes and strides that a tensor cannot have; a file may contain anything."""
    are_sequences = isinstance(size, (tuple, list)) and isinstance(stride, (tuple, list))
    if not are_sequences or len(size) != len(stride):
        raise RuntimeError("expected sizes and strides of the same length")

    if len(size) > _MOST_DIMENSIONS:
        raise RuntimeError(f"expected a tensor of at most {_MOST_DIMENSIONS} dimensions, got {len(size)}")
    if not all(type(number) is int and 0 <= number <= _MOST_ELEMENTS for number in (offset, *size, *stride)):
        raise RuntimeError(
            "expected sizes, strides and offset to be whole numbers, none negative or larger than memory"
        )
    if 0 not in size and math.prod(size) > _MOST_ELEMENTS:
        raise RuntimeError(
            f"expected a tensor of at most {_MOST_ELEMENTS} elements, got one of size {tuple(size)}"
        )


def _check_geometry(storage: Any, offset: Any, size: Any, stride: Any) -> None:
    """Raises RuntimeError if a tensor of this geometry does not fit in the storage."""
    if not isinstance(storage, TypedStorage):
        raise RuntimeError(f"expected a storage to make a tensor of, got {type(storage).__name__}")
    _check_numbers(offset, size, stride)
    available = storage.nbytes() // storage.dtype.itemsize
    needed = 0 if 0 in size else offset + 1 + sum((length - 1) * step for length, step in zip(size, stride))
    if needed > available:
        raise RuntimeError(
            f"a tensor of size {tuple(size)}, strides {tuple(stride)} and offset {offset} needs {needed} "
            f"elements, its storage has {available}"
        )


def rebuild_tensor(
    storage: Any,
    offset: Any,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    hooks: Any,
    metadata: Any = None,
) -> Any:
    """A tensor over `storage`.

    Raises RuntimeError if it would not fit in the storage, and for unknown metadata.
    """
    _check_geometry(storage, offset, size, stride)
    tensor: Any = _C._torch.empty(0, dtype=storage.dtype, device=storage.device)
    tensor.set_(storage.untyped(), offset, tuple(size), tuple(stride))
    if metadata:
        tensor = _with_bits(tensor, metadata)
    return tensor.requires_grad_(bool(requires_grad)) if requires_grad else tensor


def rebuild_tensor_of_bytes(
    storage: Any,
    offset: Any,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """A tensor of `dtype` over a storage of bytes; otherwise like `rebuild_tensor`."""
    if not isinstance(dtype, _C.dtype):
        raise RuntimeError(f"expected the dtype of a tensor, got {type(dtype).__name__}")
    if not hasattr(storage, "untyped"):
        raise RuntimeError(f"expected a storage to make a tensor of, got {type(storage).__name__}")
    typed = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype, _internal=True)
    return rebuild_tensor(typed, offset, size, stride, requires_grad, hooks, metadata)


def _with_bits(tensor: Any, metadata: Any) -> Any:
    """Applies the conjugate and negative bits: PyTorch writes x.conj() and x.conj().imag as they are in
    memory, with these bits."""
    if type(metadata) is not dict or not all(name in ("conj", "neg") for name in metadata):
        raise RuntimeError("expected only the conjugate and negative bit as metadata of a tensor")
    if metadata.get("conj"):
        tensor = tensor.conj().resolve_conj()
    return -tensor if metadata.get("neg") else tensor


def rebuild_meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A tensor on the meta device, which has a geometry but no memory."""
    _check_numbers(0, size, stride)
    if not isinstance(dtype, _C.dtype):
        raise RuntimeError(f"expected the dtype of a meta tensor, got {type(dtype).__name__}")
    tensor: Any = cast(Any, _C)._torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return tensor.requires_grad_(bool(requires_grad)) if requires_grad else tensor


def rebuild_wrapper(
    cls: Any,
    dtype: Any,
    size: Any,
    stride: Any,
    storage_offset: Any,
    *rest: Any,
) -> Any:
    """A tensor of a class whose elements are in other tensors, which become its attributes."""
    _check_numbers(storage_offset, size, stride)
    return make_wrapper(cls, dtype, size, stride, storage_offset, *rest)


def rebuild_parameter(data: Any, requires_grad: bool, hooks: Any) -> Any:
    """A parameter with the given tensor."""
    if not isinstance(data, Tensor):
        raise RuntimeError(f"expected a tensor to make a parameter of, got {type(data).__name__}")
    return Parameter(data, bool(requires_grad))


def rebuild_parameter_with_state(data: Any, requires_grad: bool, hooks: Any, state: Any) -> Any:
    """A parameter with the given tensor and attributes."""
    parameter = rebuild_parameter(data, requires_grad, hooks)
    parameter.__setstate__(_attributes(state))
    return parameter


def rebuild_from_type(function: Any, kind: Any, arguments: tuple[Any, ...], state: Any) -> Any:
    """A tensor with attributes, or of a subclass, from the call that builds the plain tensor."""
    tensor = function(*arguments)
    if not isinstance(tensor, Tensor) or not (isinstance(kind, type) and issubclass(kind, Tensor)):
        got = (
            f"{type(tensor).__name__} and {kind.__name__ if isinstance(kind, type) else type(kind).__name__}"
        )
        raise RuntimeError(f"expected a function that makes a tensor and a tensor type, got {got}")
    if type(tensor) is not kind:
        tensor = tensor.as_subclass(kind)
    tensor.__setstate__(_attributes(state))
    return tensor


def _attributes(state: Any) -> dict[str, Any]:
    """The attributes in `state`, a dict or a pair of a dict and the values of slots."""
    attributes: dict[str, Any] = {}
    for part in state if isinstance(state, tuple) else (state,):
        if not isinstance(part, (dict, type(None))):
            raise RuntimeError(f"expected the attributes of a tensor to be a dict, got {type(part).__name__}")
        attributes.update(part or {})
    return attributes


def archive_parts(tensor: Any, reference: Any) -> tuple[Any, ...]:
    """The call that rebuilds `tensor` from a pickle in an archive.

    `reference` represents its storage; meta tensors do not have one.
    """
    if tensor.is_mkldnn:
        raise NotImplementedError("Cannot access storage of OpaqueTensorImpl: use to_dense() first")
    if is_wrapper(tensor):
        cls, dtype, size, stride, offset, layout, *rest = parts_of(tensor)
        get_layout = import_module("torch_py.serialization")._get_layout
        named = _Unattached((get_layout, (str(layout),)))
        arguments = (cls, dtype, size, stride, offset, named, *rest)
        return rebuild_from_type, (rebuild_wrapper, cls, arguments, dict(vars(tensor)))

    parts: tuple[Any, ...] = (reference, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
    state = dict(vars(tensor))

    function = rebuild_tensor
    rest = (OrderedDict(),)
    if not has_storage_type(tensor.dtype):
        function = rebuild_tensor_of_bytes
        rest = (OrderedDict(), tensor.dtype)
    if tensor.is_meta:
        function = rebuild_meta_tensor
        parts = (tensor.dtype, *parts[2:])
        rest = ()

    if type(tensor) is Parameter:
        data = _Unattached((function, (*parts, False, *rest)))
        if state:
            return rebuild_parameter_with_state, (data, tensor.requires_grad, OrderedDict(), state)
        return rebuild_parameter, (data, tensor.requires_grad, OrderedDict())

    arguments: tuple[Any, ...] = (*parts, tensor.requires_grad, *rest)
    if type(tensor) is Tensor and not state:
        return function, arguments
    return rebuild_from_type, (function, type(tensor), arguments, state)


class _Unattached:
    """A value that is written as the call that creates it."""

    def __init__(self, call: tuple[Any, ...]) -> None:
        self.call = call

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


def public_rebuild(function: Any) -> Any:
    """A function of this module under the name that both libraries use in pickles."""
    module, name = _PUBLIC_NAMES[function]
    return getattr(import_module(module), name)


_PUBLIC_NAMES = {
    rebuild_tensor: ("torch_py._utils", "_rebuild_tensor_v2"),
    rebuild_tensor_of_bytes: ("torch_py._utils", "_rebuild_tensor_v3"),
    rebuild_meta_tensor: ("torch_py._utils", "_rebuild_meta_tensor_no_storage"),
    rebuild_parameter: ("torch_py._utils", "_rebuild_parameter"),
    rebuild_parameter_with_state: ("torch_py._utils", "_rebuild_parameter_with_state"),
    rebuild_wrapper: ("torch_py._utils", "_rebuild_wrapper_subclass"),
    rebuild_from_type: ("torch_py._tensor", "_rebuild_from_type_v2"),
}


def reduce_tensor(tensor: Any) -> tuple[Any, ...]:
    """The call that rebuilds `tensor` from a pickle without an archive.

    Like PyTorch's plain pickles, but with only the memory from the first to the last element.
    """
    if tensor.device.type not in ("cpu", "cuda", "meta", _C._get_privateuse1_backend_name()):
        raise NotImplementedError(f"pickling tensors on device '{tensor.device}' is not supported")
    function, arguments = archive_parts(tensor, None)
    if tensor.is_meta or is_wrapper(tensor):
        return _with_public_names(function, arguments)

    size = tuple(tensor.shape)
    stride = tuple(tensor.stride())
    itemsize = tensor.element_size()
    extent = 0 if 0 in size else 1 + sum((length - 1) * step for length, step in zip(size, stride))
    start = tensor.storage_offset() * itemsize
    memory = tensor.untyped_storage()
    part = memory if extent * itemsize == memory.nbytes() else memory[start : start + extent * itemsize]

    kind = tensor.dtype if has_storage_type(tensor.dtype) else _C.uint8
    return _with_public_names(function, arguments, (typed_storage_of(part, kind), 0))


def _with_public_names(
    function: Any, arguments: tuple[Any, ...], memory: tuple[Any, ...] = ()
) -> tuple[Any, ...]:
    """Replaces functions by their public names, and the storage and offset of the tensor by `memory`."""
    if function in (rebuild_tensor, rebuild_tensor_of_bytes):
        arguments = (*memory, *arguments[len(memory) :])
    elif function is rebuild_from_type:
        made = _with_public_names(arguments[0], arguments[2], memory)
        arguments = (made[0], arguments[1], *made[1:], *arguments[3:])
    elif function in (rebuild_parameter, rebuild_parameter_with_state):
        arguments = (_Unattached(_with_public_names(*arguments[0].call, memory)), *arguments[1:])
    return public_rebuild(function), arguments


def rebuild_meta_of_type(kind: type, dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A meta tensor of type `kind`."""
    return _as_kind(kind, rebuild_meta_tensor(dtype, size, stride, False), requires_grad)


def _as_kind(kind: type, tensor: Any, requires_grad: bool) -> Any:
    if kind is Tensor:
        return tensor.requires_grad_(requires_grad)
    return cast(Any, _C.TensorBase)._make_subclass(kind, tensor, requires_grad)


__all__ = [
    "archive_parts",
    "empty_storage",
    "public_rebuild",
    "rebuild_tensor",
    "reduce_tensor",
    "storage_bytes",
    "typed_storage",
    "whole_storage",
]
