"""Devices: which there are, which is the current one, and their properties."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py.cuda._init import _lazy_init, device_count, is_available
from torch_py.cuda._utils import _get_device_index


class _CudaDeviceProperties:
    """The properties of a device; those that the driver does not report are missing."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int

    def __init__(self, known: dict[str, Any]) -> None:
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the CUDA library does not report the property {name!r} of its devices")

    def __repr__(self) -> str:
        shown = {
            "name": repr(self.name),
            "major": self.major,
            "minor": self.minor,
            "total_memory": f"{self.total_memory // 2**20}MB",
            "multi_processor_count": self.multi_processor_count,
            "uuid": vars(self).get("uuid"),
            "pci_bus_id": vars(self).get("pci_bus_id"),
            "L2_cache_size": f"{vars(self).get('L2_cache_size', 0) // 2**20}MB",
        }
        parts = ", ".join(f"{name}={value}" for name, value in shown.items() if value is not None)
        return f"_CudaDeviceProperties({parts})"


def current_device() -> int:
    """The index of the current device of this thread."""
    _lazy_init()
    return int(_C._cuda_getDevice())


def set_device(device: Any) -> None:
    """Makes a device the current one of this thread; a negative index has no effect."""
    index = _get_device_index(device)
    if index >= 0:
        _lazy_init()
        _C._cuda_setDevice(index)


def _exchange_device(device: int) -> int:
    """Makes a device the current one and returns the one before; -1 for a negative index."""
    if device < 0:
        return -1
    _lazy_init()
    return int(_C._cuda_exchangeDevice(device))


_maybe_exchange_device = _exchange_device


class _DeviceGuard:
    """A block in which the device with an index is the current one."""

    def __init__(self, index: int) -> None:
        self.idx = index
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, *exception: object) -> bool:
        self.idx = _exchange_device(self.prev_idx)
        return False


class device(_DeviceGuard):
    """A block in which a device is the current one.

    Args:
        device: a torch.device, a string or an index; None and negative numbers have no effect.
    """

    def __init__(self, device: Any) -> None:
        super().__init__(-1 if device is None else _get_device_index(device, optional=True))


class device_of(device):
    """A block in which the device of a tensor or a storage is the current one; the CPU has no effect."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def get_device_properties(device: Any = None) -> _CudaDeviceProperties:
    """Name, compute capability, memory and other properties of a device.

    Raises AssertionError for an index that no device has.
    """
    _lazy_init()
    index = _get_device_index(device, optional=True)
    if not 0 <= index < device_count():
        raise AssertionError(f"Invalid device id: {index}, there are {device_count()}")
    return _CudaDeviceProperties(_C._cuda_getDeviceProperties(index))


def get_device_name(device: Any = None) -> str:
    """The name of a device."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The major and minor compute capability of a device."""
    found = get_device_properties(device)
    return found.major, found.minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one device can read and write the memory of another."""
    _lazy_init()
    from_index = _get_device_index(device, optional=True)
    to_index = _get_device_index(peer_device)
    for index in (from_index, to_index):
        if not 0 <= index < device_count():
            raise AssertionError(f"Invalid device id: {index}, there are {device_count()}")
    return bool(_C._cuda_canDeviceAccessPeer(from_index, to_index))


def synchronize(device: Any = None) -> None:
    """Waits for all work of a device, by default of the current one."""
    _lazy_init()
    with _DeviceGuard(-1 if device is None else _get_device_index(device, optional=True)):
        _C._cuda_synchronize()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device computes with bfloat16: since compute capability 8.0 in hardware, and by
    software on all devices that torch_py runs on."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_tf32_supported() -> bool:
    """Whether the current device has TensorFloat-32, as those from compute capability 8.0 on do."""
    return is_available() and get_device_capability()[0] >= 8


def _get_device(device: Any) -> Any:
    """A torch.device of a device, a string or an index."""
    return _C.device("cuda", device) if isinstance(device, int) else _C.device(device)
