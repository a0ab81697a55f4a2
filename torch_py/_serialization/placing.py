"""Places the storages of a file on the devices that `map_location` selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from torch_py import _C
from torch_py._serialization.rebuild import empty_storage


def placed_storage(read: Callable[..., Any], nbytes: int, location: str, map_location: Any) -> Any:
    """Returns an UntypedStorage of `nbytes` bytes on the device that `map_location` selects for `location`.

    `read(nbytes)` returns the bytes as a uint8 tensor; storages on the meta device have no memory. Raises
    RuntimeError for a device that is not there, and TypeError for a `map_location` of a type that `load` does
    not document.
    """
    target: Any = location

    if isinstance(map_location, dict):
        target = map_location.get(location, location)
    elif isinstance(map_location, (str, _C.device)):
        target = str(map_location)
    elif map_location is not None:
        return _from_function(read(nbytes).untyped_storage(), location, map_location)
    return _on_device(read, nbytes, target)


def _from_function(storage: Any, location: str, map_location: Any) -> Any:
    """Returns the storage that the function `map_location` returns, or places it at `location` for None."""
    if not callable(map_location):
        raise TypeError(
            "torch.load: expected map_location to be a device, a str, a dict or callable, "
            f"got {type(map_location).__name__}"
        )

    chosen = map_location(storage, location)
    if chosen is None:
        return _on_device(lambda *_: storage, storage.nbytes(), location)
    if not isinstance(chosen, _C.UntypedStorage):
        raise TypeError(
            "torch.load: expected map_location to return an UntypedStorage or None, "
            f"got {type(chosen).__name__}"
        )

    return chosen


def _on_device(read: Callable[..., Any], nbytes: int, target: Any) -> Any:
    """Returns a storage on the device `target`; `read` returns a tensor or a storage."""
    if not isinstance(target, (str, _C.device)):
        raise TypeError(
            f"torch.load: expected map_location to give the name of a device, got {type(target).__name__}"
        )

    kind = str(target).partition(":")[0]
    if kind == "cuda":
        return _on_accelerator(read, nbytes, _C.device("cuda", _cuda_index(str(target))))
    if kind == "meta":
        return cast(Any, _C)._torch.empty(nbytes, dtype=_C.uint8, device="meta").untyped_storage()
    if _is_loaded_backend(kind):
        return _on_accelerator(read, nbytes, _C.device(str(target)))
    if kind != "cpu":
        raise RuntimeError(
            f"torch.load: cannot load a storage on device {str(target)[:100]!r}, which torch_py does not "
            "have; load with map_location=torch.device('cpu')"
        )

    data = read(nbytes) if nbytes else empty_storage(0)
    return data if isinstance(data, _C.UntypedStorage) else data.untyped_storage()


def _cuda_index(location: str) -> int:
    """The index of a CUDA device that a location names.

    Raises RuntimeError, with the way out, unless there is such a device.
    """
    count = int(_C._cuda_getDeviceCount())
    if count == 0:
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
            "you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )

    index = _C.device(location).index
    if index is None:
        return int(_C._cuda_getDevice())
    if index >= count:
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is "
            f"{count}. Please use torch.load with map_location to map your storages to an existing device."
        )
    return int(index)


def _is_loaded_backend(kind: str) -> bool:
    """Whether a package provides devices of this type."""
    return kind == _C._get_privateuse1_backend_name() and int(_C._accelerator_count(kind)) > 0


def _on_accelerator(read: Callable[..., Any], nbytes: int, device: Any) -> Any:
    """Returns a storage with the bytes on a device that has memory of its own."""
    if not nbytes:
        return cast(Any, _C).UntypedStorage(0, device=device)
    data = read(nbytes, True)  # all of it: the copy begins now
    if isinstance(data, _C.UntypedStorage):
        return cast(Any, data).to(device=device)
    return data.to(device).untyped_storage()
