"""Exchange with other libraries by `__cuda_array_interface__`."""

from __future__ import annotations

from typing import Any

from torch_py import _C

_TYPES = {
    _C.complex64: "<c8",
    _C.complex128: "<c16",
    _C.bfloat16: "<V2",  # a type of its own in no library: two bytes without meaning
    _C.float16: "<f2",
    _C.float32: "<f4",
    _C.float64: "<f8",
    _C.uint8: "|u1",
    _C.int8: "|i1",
    _C.uint16: "<u2",
    _C.int16: "<i2",
    _C.uint32: "<u4",
    _C.int32: "<i4",
    _C.uint64: "<u8",
    _C.int64: "<i8",
    _C.bool: "|b1",
}
_DTYPES = {text: dtype for dtype, text in _TYPES.items() if dtype != _C.bfloat16}


def described(tensor: Any) -> dict[str, Any]:
    """The interface of a CUDA tensor: see `Tensor.__cuda_array_interface__`."""
    if not tensor.is_cuda:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {tensor.type()} If CUDA data is "
            "required use tensor.cuda() to copy tensor to device memory."
        )
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't "
            "required, use var.detach() to get Variable that doesn't require grad."
        )

    if tensor.dtype not in _TYPES:
        raise TypeError(f"__cuda_array_interface__: there is no name for {tensor.dtype}")
    size = tensor.element_size()
    return {
        "typestr": _TYPES[tensor.dtype],
        "shape": tuple(tensor.shape),
        "strides": None if tensor.is_contiguous() else tuple(step * size for step in tensor.stride()),
        "data": (tensor.data_ptr() if tensor.numel() else 0, False),
        "version": 2,
    }


def tensor_on(array: Any) -> Any:
    """A tensor on the memory of an array of another library, which it keeps alive.

    Raises TypeError and ValueError for arrays that have no tensor equivalent.
    """
    known = array.__cuda_array_interface__
    dtype = _DTYPES.get(known["typestr"])
    if dtype is None:
        raise TypeError(f"cannot make a tensor of a CUDA array of type {known['typestr']!r}")
    if known.get("mask") is not None:
        raise TypeError("cannot make a tensor of a CUDA array with a mask")

    address, _ = known["data"]
    shape = tuple(known["shape"])
    size = dtype.itemsize
    strides = known.get("strides")
    if strides is None:
        steps = []
        step = 1
        for length in reversed(shape):
            steps.append(step)
            step *= max(length, 1)
        return _C._cuda_tensorAt(address, shape, tuple(reversed(steps)), dtype, array)

    if any(step % size or step < 0 for step in strides):
        raise ValueError("given array strides not a multiple of the element byte size, or negative")
    return _C._cuda_tensorAt(address, shape, tuple(step // size for step in strides), dtype, array)
