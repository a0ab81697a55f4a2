"""Copies of values, for calls that may change them."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import set_grad_enabled


def copied(value: Any) -> Any:
    """A tensor of the same elements, strides and requires_grad, as a leaf if it is one; other values as they
    are."""
    if not isinstance(value, Tensor):
        return value
    source: Any = value.detach()
    once = source  # without elements that are read several times
    for dim, (size, stride) in enumerate(zip(source.size(), source.stride())):
        once = once.narrow(dim, 0, 1) if stride == 0 and size > 1 else once

    is_leaf = not value.requires_grad or value.is_leaf
    made = once.new_empty_strided(once.size(), once.stride())
    with set_grad_enabled(not is_leaf):
        made.copy_(once if is_leaf else once.requires_grad_())
        made = made if once is source else made.as_strided(source.size(), source.stride())
    return made.requires_grad_() if is_leaf and value.requires_grad else made
