"""Where the storages of a file go: `map_location`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from torch_py import _C
from torch_py._serialization.rebuild import empty_storage


def placed(read: Callable[[int], Any], nbytes: int, location: str, map_location: Any) -> Any:
    """An UntypedStorage of `nbytes` bytes: those that `read` gives as a uint8 tensor, or none on the meta
    device.

    Raises RuntimeError when it is to be put somewhere else than in the memory of the CPU, TypeError for a
    `map_location` of another type than `load` documents.
    """
    target: Any = location
    if isinstance(map_location, dict):
        target = map_location.get(location, location)
    elif isinstance(map_location, (str, _C.device)):
        target = str(map_location)
    elif map_location is not None:
        return _chosen(read(nbytes).untyped_storage(), location, map_location)
    return _on_device(read, nbytes, target)


def _chosen(storage: Any, location: str, map_location: Any) -> Any:
    """A function returns the storage to use, None for "as in the file"."""
    if not callable(map_location):
        raise TypeError(
            "torch.load: expected map_location to be a device, a str, a dict or callable, got "
            f"{type(map_location).__name__}"
        )
    chosen = map_location(storage, location)
    if chosen is None:
        return _on_device(lambda _: storage, storage.nbytes(), location)
    if not isinstance(chosen, _C.UntypedStorage):
        raise TypeError(
            "torch.load: expected map_location to return an UntypedStorage or None, got "
            f"{type(chosen).__name__}"
        )
    return chosen


def _on_device(read: Callable[[int], Any], nbytes: int, target: Any) -> Any:
    if not isinstance(target, (str, _C.device)):
        raise TypeError(
            f"torch.load: expected map_location to give the name of a device, got {type(target).__name__}"
        )
    kind = str(target).partition(":")[0]
    if kind == "meta":
        return cast(Any, _C)._torch.empty(nbytes, dtype=_C.uint8, device="meta").untyped_storage()
    if kind != "cpu":
        raise RuntimeError(
            f"torch.load: a storage is to be loaded on device {str(target)[:100]!r}, which this build does "
            "not have; load with "
            "map_location=torch.device('cpu')"
        )
    data = read(nbytes) if nbytes else empty_storage(0)
    return data if isinstance(data, _C.UntypedStorage) else data.untyped_storage()
