"""Which tensors of the program share memory, and elements."""

from __future__ import annotations

from torch_py import _C
from torch_py._shapes.arguments import reach
from torch_py._tensor import Tensor


def overlap(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors may share elements."""
    if a.layout is not _C.strided or b.layout is not _C.strided or address_of(a) != address_of(b):
        return False
    extents = [(t.storage_offset() * t.itemsize, reach(t.shape, t.stride()) * t.itemsize) for t in (a, b)]
    (first, first_length), (second, second_length) = sorted(extents)
    return second < first + first_length and second_length > 0


def may_share(a: Tensor, b: Tensor) -> bool:
    """Whether tensors with the same elements have no history, or one that they share."""
    bases = [tensor._base if tensor._is_view() else tensor for tensor in (a, b)]
    return bases[0] is bases[1] or not (a.requires_grad or b.requires_grad)


def address_of(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata
