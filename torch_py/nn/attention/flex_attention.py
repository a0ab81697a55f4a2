"""Attention with custom score functions: PyTorch's names, and combinations of masks.

The computation itself raises NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor

__all__ = [
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_mask_mod_signature: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
_score_mod_signature: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.nn.attention.flex_attention.{name}: not in torch_py; use scaled_dot_product_attention with "
        "attn_mask"
    )


class BlockMask:
    """The blocks of scores that are needed; raises NotImplementedError when made."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("BlockMask")


class AuxRequest(NamedTuple):
    """The additional results that a caller asks for."""

    lse: bool = False
    max_scores: bool = False


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask that keeps every score."""
    return batch.new_ones(size=(), dtype=_C.bool, device=batch.device)


def and_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """Returns a mask that keeps the scores that all given masks keep.

    Raises RuntimeError for an argument that cannot be called.
    """
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def all_of(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=_C.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return all_of


def or_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """Returns a mask that keeps the scores that any given mask keeps.

    Raises RuntimeError for an argument that cannot be called.
    """
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def one_of(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=_C.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return one_of


def create_mask(*arguments: Any, **keywords: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("create_mask")


def create_block_mask(*arguments: Any, **keywords: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("create_block_mask")


def flex_attention(*arguments: Any, **keywords: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("flex_attention")


__getattr__ = _lacking(__name__)
