"""Padding of the borders of tensors, as a function."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._C import _nn
from torch_py._tensor import Tensor

__all__ = ["pad"]

_pad = _nn.pad


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Extends dimensions on both sides, or cuts them.

    Args:
        input: any shape
        pad: (left, right) of the last dimension, then of the one before, and so on; negative widths cut
        mode: 'constant' (default), 'reflect' (mirrored, without the edge), 'replicate' (the edge repeated) or
            'circular' (from the opposite side)
        value: what 'constant' fills in; default None, which is 0

    Example:
        >>> F.pad(torch.tensor([[1.0, 2.0, 3.0]]), (1, 2), mode="replicate")
        tensor([[1., 1., 2., 3., 3., 3.]])
    """
    return _pad(input, pad, mode, value)
