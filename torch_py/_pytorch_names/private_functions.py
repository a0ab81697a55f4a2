"""Private functions of PyTorch's `torch` namespace that programs call."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor

__all__ = [
    "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo",
    "_shape_as_tensor",
]

_torch: Any = _C._torch


def _convert_indices_from_coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """The beginnings of `size` rows and the end, for sorted row
    numbers: shape (size + 1,), int64 or int32."""
    if input.dim() > 1:
        raise RuntimeError(f"Input is supposed to be a vector, but got {input.dim()} dimensional tensor.")
    rows = _torch.arange(size + 1, dtype=input.dtype, device=input.device)
    return _torch.searchsorted(input.contiguous(), rows, out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Row and column numbers, shape (2, n), from the beginnings of rows
    and n columns; columns first with `transpose`."""
    counts = crow_indices[1:] - crow_indices[:-1]
    dtype = _C.int32 if out_int32 else _C.int64
    numbers = _torch.arange(counts.numel(), device=counts.device)
    rows = _torch.repeat_interleave(numbers, counts.long()).to(dtype)
    columns = col_indices.to(dtype)
    return _torch.stack([columns, rows] if transpose else [rows, columns])


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes as int64."""
    return _C.tensor(list(self.shape), dtype=_C.int64)
