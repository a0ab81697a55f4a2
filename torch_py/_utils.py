"""Helpers that programs take from `torch._utils`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """The elements of all tensors, one after the other, in one dimension. One tensor is viewed, several are copied."""
    flat = [tensor.contiguous().view(-1) for tensor in tensors]
    return flat[0] if len(flat) == 1 else _torch.cat(flat)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of consecutive parts of `flat` in the shapes of `tensors`."""
    results = []
    offset = 0
    for tensor in tensors:
        count = tensor.numel()
        # A view of nothing would keep all of `flat` alive.
        results.append(flat.narrow(0, offset, count).view(tensor.shape) if count else flat.new_empty(tensor.shape))
        offset += count
    return tuple(results)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one type of at most `size_limit` bytes each, but for single ones that are larger."""
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind, size = tensor.type(), tensor.numel() * tensor.element_size()  # type: ignore[attr-defined]
        group, total = groups.get(kind, ([], 0))
        if group and total + size > size_limit:
            yield group
            group, total = [], 0
        group.append(tensor)
        groups[kind] = (group, total + size)
    yield from (group for group, _ in groups.values() if group)


def _element_size(dtype: Any) -> int:
    """Bytes of an element."""
    return _torch.empty((), dtype=dtype).element_size()


def is_compiling() -> bool:
    """Whether a compiler is tracing the program: never."""
    return False
