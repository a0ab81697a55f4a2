"""Arguments that are one value for every dimension, and prefixes of state dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """Returns a function that makes tuples: of an iterable, or of `count` copies of a single value."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else (value,) * count

    return parse


_single = _ntuple(1)
_pair = _ntuple(2)
_triple = _ntuple(3)
_quadruple = _ntuple(4)


def _reverse_repeat_tuple(values: Iterable[int], count: int) -> tuple[int, ...]:
    """Returns the values from last to first, each `count` times: paddings in the order of `F.pad`."""
    return tuple(value for value in reversed(tuple(values)) for _ in range(count))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Removes `prefix`, which wrappers like DataParallel add, from the keys
    of `state_dict` and of its metadata, in place."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in [
        key for key in metadata if key and (key == prefix.replace(".", "") or key.startswith(prefix))
    ]:
        metadata[key[len(prefix) :]] = metadata.pop(key)
