"""The global state that a second run must see: random numbers and autocast."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from torch_py import _C, random
from torch_py._tensor import Tensor
from torch_py.amp import autocast

__all__ = ["get_device_states", "set_device_states"]


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The indices of the CUDA devices that tensors among the arguments are on, and the states of their random
    generators.

    Args:
        args: the arguments

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.get_device_states(torch.ones(1))
        ([], [])
    """
    places: set[int] = set()
    _collect_devices(args, places)
    if not places:
        return [], []

    # Imported on first use: only tensors of CUDA devices need it.
    from torch_py.cuda import random as cuda_random

    return sorted(places), [cuda_random.get_rng_state(place) for place in sorted(places)]


def _collect_devices(value: Any, places: set[int]) -> None:
    if isinstance(value, Tensor):
        if value.is_cuda:
            places.add(value.get_device())
    elif isinstance(value, dict):
        for item in value.values():
            _collect_devices(item, places)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect_devices(item, places)


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Restores what `get_device_states` returned. Raises RuntimeError for devices that are not there.

    Args:
        devices: the indices of the devices
        states: the states
        device_type: the type of device; default None, CUDA

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.set_device_states([], [])
    """
    count = int(_C._cuda_getDeviceCount()) if devices else 0
    missing = [device for device in devices if device >= count]
    if missing:
        raise RuntimeError(f"set_device_states: there are {count} CUDA devices, got states for {missing}")

    for device, state in zip(devices, states):
        _C._cuda_defaultGenerator(device).set_state(state)


class _Surroundings:
    """The global state that a second run must see: random numbers and autocast."""

    def __init__(self, preserve_rng_state: bool, *arguments: Any) -> None:
        self.random_state = random.get_rng_state() if preserve_rng_state else None
        self.devices, self.device_states = get_device_states(*arguments) if preserve_rng_state else ([], [])
        self.casts = _autocast_settings()

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            if self.random_state is not None:
                stack.enter_context(random.fork_rng(devices=self.devices))
                random.set_rng_state(self.random_state)
                set_device_states(self.devices, self.device_states)
            for kind, settings in self.casts.items():
                stack.enter_context(autocast(kind, **settings))
            yield


def _autocast_settings() -> dict[str, dict[str, Any]]:
    """The arguments of autocast, by device type; that of CUDA only if it is enabled."""
    if not hasattr(_C, "is_autocast_enabled"):
        return {}
    kinds = ("cpu", "cuda") if _C.is_autocast_enabled("cuda") else ("cpu",)
    return {
        kind: {
            "enabled": _C.is_autocast_enabled(kind),
            "dtype": _C.get_autocast_dtype(kind),
            "cache_enabled": _C.is_autocast_cache_enabled(),
        }
        for kind in kinds
    }
