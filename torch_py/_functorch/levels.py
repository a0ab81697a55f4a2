"""The levels of running transforms, and the tensors that they wrap.

Note [Levels] in aten/transforms/Levels.h explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_leaves

Gradients = list[Tensor | None]

current_level: Callable[[], int] = _C._current_level
level_of: Callable[[object], int] = _C._level_of
inside: Callable[[object], Tensor] = _C._inside


@contextmanager
def new_level(batch_size: int = -1, randomness: str = "error") -> Iterator[int]:
    """Begins a level, of a `vmap` if it has the size of a batch."""
    level = _C._begin_level(batch_size, randomness)
    try:
        yield level
    finally:
        _C._end_level()


def running_batches() -> list[tuple[int, int]]:
    """(level, size of the batch) of every running `vmap`."""
    sizes = [(level, _C._level_at(level)[0]) for level in range(1, current_level() + 1)]
    return [(level, size) for level, size in sizes if size >= 0]


def is_at(tensor: object, level: int) -> bool:
    return bool(level_of(tensor) == level)


def highest_level(trees: Any) -> int:
    return max(map(level_of, tree_leaves(trees)), default=0)


def parts(tensor: Tensor) -> list[Tensor]:
    """The tensors inside of a wrapped one."""
    tangent = None if _C._is_batch(tensor) else _C._tangent(tensor)
    return [inside(tensor)] if tangent is None else [inside(tensor), tangent]


def with_value(tensor: Tensor, value: Tensor) -> Tensor:
    """A tensor of the same kind and level with `value` inside."""
    level = level_of(tensor)
    if _C._is_batch(tensor):
        return _C._wrap_batch(value, level)  # type: ignore[no-any-return]
    return _C._wrap_dual(value, _C._tangent(tensor), level)  # type: ignore[no-any-return]
