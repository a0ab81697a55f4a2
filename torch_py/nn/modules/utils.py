"""Helpers of modules: repeat a value for each dimension, strip a prefix from the keys of a state dict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """Returns a function that makes a tuple of an iterable, or of `count` copies of any other value."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else (value,) * count

    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)


def _reverse_repeat_tuple(values: Iterable[int], count: int) -> tuple[int, ...]:
    """Returns the values from last to first, each `count` times, as `F.pad` takes paddings."""
    return tuple(value for value in reversed(tuple(values)) for _ in range(count))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Removes `prefix` from the keys of `state_dict` and of its metadata, in place.

    Wrappers such as DataParallel add such a prefix.
    """
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)

    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return

    # Keys of the metadata are names of modules: that of the wrapped module is the prefix without its dot.
    wrapped = prefix.replace(".", "")
    for key in [key for key in metadata if key and (key == wrapped or key.startswith(prefix))]:
        metadata[key[len(prefix) :]] = metadata.pop(key)
