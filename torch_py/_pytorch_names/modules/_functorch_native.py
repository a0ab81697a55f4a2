"""Questions about batched tensors that programs import from `torch._C._functorch`."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._functorch.batching import batched, members
from torch_py._functorch.levels import inside, level_of
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor


def is_batchedtensor(tensor: Any) -> bool:
    """Whether `vmap` has made the tensor, for a batch of others."""
    return bool(_C._is_batch(tensor))


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """Whether the tensor is of the first version of vmap, which torch_py does not have."""
    return False


def get_unwrapped(tensor: Any) -> Tensor:
    """What a tensor of a transform contains. Raises RuntimeError for others."""
    if not level_of(tensor):
        raise RuntimeError("No wrappers present!")
    return inside(tensor)  # type: ignore[no-any-return]


def maybe_get_bdim(tensor: Any) -> int:
    """The dimension of the batch in what a batched tensor contains, which is the first; -1 for others."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Any) -> int:
    """The level of the transform that has made the tensor; -1 for others."""
    return level_of(tensor) or -1


def _add_batch_dim(tensor: Tensor, batch_dim: int, level: int) -> Tensor:
    """The members of `tensor` along a dimension as one tensor of the transform at `level`."""
    return batched(tensor.movedim(batch_dim, 0), level)  # type: ignore[no-any-return]


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """The members of a tensor of the transform at `level`, along a dimension; a tensor of another level is
    each member.
    """
    return members(tensor, level, batch_size).movedim(0, out_dim)


__getattr__ = _lacking(__name__)
