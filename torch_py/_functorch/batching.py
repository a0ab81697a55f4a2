"""Tensors that represent a batch of tensors."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._functorch.levels import inside, is_at, level_of, running_batches
from torch_py._tensor import Tensor
from torch_py.utils._pytree import TreeSpec, _get_node_type

batched = _C._wrap_batch


def members(tensor: Tensor, level: int, size: int) -> Tensor:
    """The members of a batch, in the first dimension; what they share is expanded."""
    return inside(tensor) if is_at(tensor, level) else tensor.expand(size, *tensor.shape)


def member_copies(tensor: Tensor, level: int, size: int) -> Tensor:
    """The same, where each member is to have memory of its own."""
    return inside(tensor) if is_at(tensor, level) else members(tensor, level, size).clone()


def member(tensor: Any, level: int, index: int) -> Any:
    return inside(tensor).select(0, index) if is_at(tensor, level) else tensor


def spread(tensor: Tensor) -> Tensor:
    """`tensor` as a member of every running batch, so that each member can have a gradient of its own; they
    share the memory."""
    return _spread(tensor, running_batches())


def _spread(tensor: Tensor, batches: list[tuple[int, int]]) -> Tensor:
    level = level_of(tensor)
    below = [batch for batch in batches if batch[0] < level]
    if below and _C._is_batch(tensor):
        tensor = batched(_spread(inside(tensor), below), level)
    elif below:
        tangent = _C._tangent(tensor)
        moved = None if tangent is None else _spread(tangent, below)
        tensor = _C._wrap_dual(_spread(inside(tensor), below), moved, level)

    for number, size in batches:
        if number > level:
            tensor = batched(tensor.expand(size, *tensor.shape), number)
    return tensor


def _broadcast_dims(dims: Any, spec: TreeSpec, what: str) -> list[Any]:
    """One entry of `dims` for each leaf; raises ValueError if it is not a prefix of the tree."""
    if isinstance(dims, int) or dims is None:
        return [dims] * spec.num_leaves
    if spec.is_leaf() or _get_node_type(dims) is not spec.type or len(dims) != len(spec.children_specs):
        raise ValueError(
            f"vmap: {what} is not compatible with the structure of what it describes, got {what}={dims}"
        )
    entries = [dims[key] for key in spec.context] if isinstance(dims, dict) else list(dims)
    return [
        d for entry, child in zip(entries, spec.children_specs) for d in _broadcast_dims(entry, child, what)
    ]


def randomness() -> str:
    """How the innermost running `vmap` treats random operators."""
    batches = running_batches()
    return str(_C._level_at(batches[-1][0])[1]) if batches else "error"
