"""The `pin_memory` setting of a DataLoader: memory that an accelerator can read directly."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from torch_py import _C


def wants_pinned(loader: Any) -> bool:
    """Whether a loader pins its batches. Warns if it cannot, and about a device, which has no effect."""
    if not loader.pin_memory:
        return False
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=4,
        )
    if int(_C._cuda_getDeviceCount()) > 0:
        return True

    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't "
        "be used.",
        UserWarning,
        stacklevel=4,
    )
    return False


def pin_memory(data: Any, device: str | None = None) -> Any:
    """A batch with its tensors in pinned memory: those of containers too, and what has a method `pin_memory`
    is asked itself. `device` has no effect."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data

    if isinstance(data, Mapping):
        return _like(data, {key: pin_memory(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(value) for value in data))
    if isinstance(data, Sequence):
        return _like(data, [pin_memory(value) for value in data])
    return data


def _like(original: Any, items: Any) -> Any:
    """The items in a container of the type of `original`, with the attributes that its class may have; a list
    or a dict where the class cannot be made of them."""
    try:
        if isinstance(original, MutableMapping):
            mapping = copy.copy(original)
            mapping.update(items)
            return mapping
        if isinstance(original, MutableSequence):
            sequence = copy.copy(original)
            for place, item in enumerate(items):
                sequence[place] = item
            return sequence
        return type(original)(items)
    except TypeError:
        return items
