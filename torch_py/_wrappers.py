"""Instances of tensor classes that consist of other tensors: a geometry without memory."""

from __future__ import annotations

from typing import Any, cast

from torch_py import _C


def is_wrapper(tensor: Any) -> bool:
    """Whether the elements of `tensor` are in other tensors, which only its class knows."""
    handler = getattr(type(tensor), "__torch_dispatch__", _C._disabled_torch_dispatch_impl)
    if handler is _C._disabled_torch_dispatch_impl or tensor.is_meta:
        return False
    try:
        tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return True
    return False


def parts_of(tensor: Any) -> tuple[Any, ...]:
    """The arguments with which `make_wrapper` makes another of the same class and geometry."""
    size, stride = tuple(tensor.size()), tuple(tensor.stride())
    offset, layout = tensor.storage_offset(), tensor.layout
    return type(tensor), tensor.dtype, size, stride, offset, layout, tensor.device, tensor.requires_grad


def make_wrapper(
    cls: Any,
    dtype: Any,
    size: Any,
    stride: Any,
    storage_offset: Any,
    layout: Any,
    device: Any,
    requires_grad: Any,
) -> Any:
    """An instance of `cls` without attributes.

    Raises TypeError or RuntimeError unless `cls` is a class of tensors with `__torch_dispatch__`.
    """
    return cast(Any, _C.TensorBase)._make_wrapper_subclass(
        cls,
        tuple(size),
        strides=tuple(stride),
        storage_offset=storage_offset,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=bool(requires_grad),
    )
