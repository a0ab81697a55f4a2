"""The functions that the module of a device has, such as `torch.mydev.synchronize()`, over its backend."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torch_py import _C


def register_device_module(device_type: str, module: ModuleType) -> None:
    """Makes `module` the one that `torch.get_device_module(device_type)` returns, as ``torch.mydev``.

    Raises RuntimeError if there is a module of this name.
    """
    package = sys.modules["torch_py"]
    name = _C.device(device_type).type
    if getattr(package, name, module) is not module:
        raise RuntimeError(f"The runtime module of '{name}' has already been registered with another module")
    setattr(package, name, module)
    sys.modules[f"torch_py.{name}"] = module


def add_functions(module: ModuleType, name: str) -> None:
    """Adds the functions of a device to its module, except those that the module has."""
    for function in _functions(name):
        if not hasattr(module, function.__name__):
            setattr(module, function.__name__, function)


def _functions(name: str) -> list[Callable[..., Any]]:
    def where(device: Any = None) -> Any:
        """A device of the backend; the current one for None, an index for a number."""
        if device is None:
            return _C.device(name)
        return _C.device(name, device) if isinstance(device, int) else _C.device(device)

    def is_available() -> bool:
        """Whether there is a device."""
        return device_count() > 0

    def device_count() -> int:
        """The number of devices."""
        return int(_C._accelerator_count(name))

    def current_device() -> int:
        """The index of the calling thread's current device."""
        return int(_C._accelerator_index(name))

    def set_device(device: Any) -> None:
        """Makes a device the current one of the calling thread."""
        _C._accelerator_exchange(where(device))

    def synchronize(device: Any = None) -> None:
        """Waits for all work of a device."""
        _C._accelerator_synchronize(where(device))

    def manual_seed(seed: int) -> None:
        """Seeds the generators of all devices, as `manual_seed_all` does."""
        manual_seed_all(seed)

    def manual_seed_all(seed: int) -> None:
        """Seeds the default generators of all devices."""
        _C._accelerator_seed(name, int(seed) & (2**64 - 1))

    def get_rng_state(device: Any = None) -> Any:
        """The state of a device's default generator, a uint8 tensor."""
        return _C._accelerator_generator(where(device)).get_state()

    def set_rng_state(new_state: Any, device: Any = None) -> None:
        """Makes a device's default generator continue from a state."""
        _C._accelerator_generator(where(device)).set_state(new_state)

    def host_fallbacks() -> dict[str, int]:
        """How often each operator ran on the CPU, on copies, since the last reset."""
        found: dict[str, int] = _C._cuda_hostFallbacks()
        return found

    def reset_host_fallbacks() -> None:
        """Starts the counts of `host_fallbacks` again from 0."""
        _C._cuda_resetHostFallbacks()

    return [
        is_available,
        device_count,
        current_device,
        set_device,
        synchronize,
        manual_seed,
        manual_seed_all,
        get_rng_state,
        set_rng_state,
        host_fallbacks,
        reset_host_fallbacks,
    ]
