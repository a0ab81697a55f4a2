"""The device of a result, which is what the rule for tensors with memory gives."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from torch_py import _C
from torch_py._subclasses.errors import FakeTensorDeviceMismatchError
from torch_py._tensor import Tensor

META: Any = _C.device("meta")


def with_index(device: Any) -> Any:
    """The device as tensors on it name it: "cuda" is the current device, which is 0 unless CUDA is in use."""
    device = _C.device(device)
    if device.type in ("cpu", "meta"):
        return _C.device(device.type)
    if device.type == "cuda" and device.index is None:
        # Imported here: programs for the CPU do without it.
        from torch_py import cuda

        return _C.device("cuda", cuda.current_device() if cuda.is_available() else 0)
    return device


@cache
def device_argument(func: Any) -> tuple[int, str] | None:
    """Position and name of the argument of an operator that names the device of its result."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.type.rstrip("?") == "Device":
            return (-1 if argument.kwarg_only else position), argument.name
    return None


@cache
def is_factory(func: Any) -> bool:
    """Whether results are on the CPU unless the call says otherwise, not on the device of a tensor."""
    tensors = (a.name for a in func._schema.arguments if a.type.startswith("Tensor"))
    return device_argument(func) is not None and "self" not in tensors


@cache
def _stays_on_host(func: Any, place: int | str) -> bool:
    """Whether an argument may be on the CPU whatever the device of the others, as indices may."""
    arguments = func._schema.arguments
    return any(a.type == "Tensor?[]" and place in (i, a.name) for i, a in enumerate(arguments))


@cache
def _written(func: Any) -> frozenset[int | str]:
    """The arguments that an operator writes to: their positions and names."""
    written = [(i, a.name) for i, a in enumerate(func._schema.arguments) if a.is_write]
    return frozenset(place for places in written for place in places)


def common_device(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The device that the tensors of a call share; None without tensors.

    A 0-dimensional tensor on the CPU is a number to tensors of other devices, unless it is written to. Raises
    RuntimeError for two devices, unless the operator copies from one to the other.
    """
    found = None
    is_number = False
    for place, value in (*enumerate(args), *kwargs.items()):
        for tensor in _tensors_in(value):
            device = tensor.device
            number = device.type == "cpu" and tensor.dim() == 0 and place not in _written(func)
            on_host = device.type == "cpu" and _stays_on_host(func, place)

            if found is None or (is_number and not number and not on_host):
                found, is_number = device, number
            elif device != found and not number and not on_host:
                if "mixes_devices" in func._tag_words.split():
                    return found
                raise FakeTensorDeviceMismatchError(func, found, device)
    return found


def _tensors_in(value: Any) -> Iterable[Any]:
    if isinstance(value, Tensor):
        return (value,)
    return (item for item in value if isinstance(item, Tensor)) if isinstance(value, (list, tuple)) else ()
