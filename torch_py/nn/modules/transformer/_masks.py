"""Causal masks."""

from __future__ import annotations

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.types import Device, _dtype


def causal_mask(size: int, device: Device = None, dtype: _dtype | None = None) -> Tensor:
    """Returns -inf above the diagonal, where a key is later than the query, and 0 elsewhere."""
    return _torch.full(
        (size, size), float("-inf"), dtype=dtype or _C.get_default_dtype(), device=device
    ).triu(1)


def detect_causal(mask: Tensor | None, is_causal: bool | None, size: int | None) -> bool:
    """Returns `is_causal` if given, otherwise whether `mask` hides exactly the later positions."""
    if is_causal is not None:
        return is_causal is True
    if mask is None or (size is not None and mask.shape[-1] != size):
        return False
    if mask.dim() != 2 or mask.shape[0] != mask.shape[1]:
        return False

    if mask.is_floating_point():
        causal = causal_mask(mask.shape[0], mask.device, mask.dtype)
    else:
        causal = causal_mask(mask.shape[0], mask.device).isinf()
    return bool((mask == causal).all())
