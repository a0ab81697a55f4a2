"""Nested state as one dict, by the dotted names of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch_py._tensor import Tensor


def parts(state: Any) -> Iterator[tuple[str, Any, Any]]:
    """Each part as its name, its container and the key in that.

    Dicts have parts, and so have lists with tensors or dicts in them.
    """
    for key in state if isinstance(state, Mapping) else range(len(state)):
        value = state[key]
        if _has_parts(value):
            for name, container, inner in parts(value):
                yield f"{key}.{name}", container, inner
        else:
            yield str(key), state, key


def _has_parts(value: Any) -> bool:
    if isinstance(value, Mapping):
        return len(value) > 0
    return isinstance(value, list) and any(isinstance(part, (Tensor, Mapping, list)) for part in value)


def flatten(state: Any) -> dict[str, Any]:
    """The parts of `state` by name. Raises ValueError for two of one name."""
    flat: dict[str, Any] = {}
    for name, container, key in parts(state):
        if name in flat:
            raise ValueError(f"torch.distributed.checkpoint: two values have the name {name!r}")
        flat[name] = container[key]
    return flat
