"""The default random generator: seeding it, saving and restoring its state.

Its numbers depend on the seed and the order of the draws only, never on the number of threads.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from torch_py import _C
from torch_py._C import default_generator
from torch_py._tensor import Tensor

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> _C.Generator:
    """Restarts the default generators of all devices from `seed`, an integer in [-2**63, 2**64); a negative
    one counts from 2**64. Returns the CPU's generator.

    Raises ValueError when `seed` is out of range.

    Args:
        seed: the seed

    Example:
        >>> generator = torch.manual_seed(0)
        >>> x = torch.rand(2)
        >>> generator = torch.manual_seed(0)
        >>> torch.equal(torch.rand(2), x)
        True
    """
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"manual_seed: expected a seed in [-2**63, 2**64), got {number}")
    _seed_accelerators(number)
    return default_generator.manual_seed(number)


def seed() -> int:
    """Seeds the default generator from the operating system's randomness
    and returns the seed, a number of 64 bits.

    Example:
        >>> isinstance(torch.seed(), int)
        True
    """
    drawn = int(default_generator.seed())
    _seed_accelerators(drawn)
    return drawn


def _seed_accelerators(number: int) -> None:
    _C._cuda_seedAll(number)
    _C._accelerator_seed(_C._get_privateuse1_backend_name(), number & (2**64 - 1))


def initial_seed() -> int:
    """The seed the default generator was last given.

    Example:
        >>> generator = torch.manual_seed(7)
        >>> torch.initial_seed()
        7
    """
    return int(default_generator.initial_seed())


def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor for `set_rng_state`.

    Example:
        >>> torch.get_rng_state().dtype
        torch.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Makes the default generator continue from `new_state`, a uint8 tensor of `get_rng_state`.

    Args:
        new_state: the state

    Example:
        >>> state = torch.get_rng_state()
        >>> x = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(torch.rand(2), x)
        True
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restores the states of the generators of the CPU and of `devices` after the block.

    Args:
        devices: by default all devices of the type; a warning then advises to name them if there are several.
        enabled: False restores nothing.
        device_type: the type of the devices, by default "cuda"; None too.
    """
    if not enabled:
        yield
        return

    kind = "cuda" if device_type is None else device_type
    backend = _C._get_privateuse1_backend_name()
    if kind not in ("cuda", "cpu", "meta", backend):
        raise RuntimeError(f"fork_rng: torch_py has no {kind} devices")

    generators = [default_generator]
    if kind == "cuda":
        places = _devices_to_fork(devices, _caller, _devices_kw)
        generators += [_C._cuda_defaultGenerator(place) for place in places]
    if kind == backend:
        chosen = range(int(_C._accelerator_count(kind))) if devices is None else devices
        generators += [_C._accelerator_generator(_backend_device(kind, place)) for place in chosen]

    states = [generator.get_state() for generator in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, states):
            generator.set_state(state)


def _index(device: Any) -> int:
    """The index of a CUDA device that a number, a string or a device names."""
    if isinstance(device, int):
        return device
    place = _C.device(device)
    if place.type != "cuda":
        raise ValueError(f"fork_rng: expected CUDA devices, got {device}")
    return int(_C._cuda_getDevice()) if place.index is None else int(place.index)


def _backend_device(kind: str, place: Any) -> Any:
    return _C.device(kind, place) if isinstance(place, int) else _C.device(place)


def _devices_to_fork(devices: Iterable[Any] | None, caller: str, keyword: str) -> list[Any]:
    if devices is not None:
        return [_index(device) for device in devices]

    count = int(_C._cuda_getDeviceCount())
    if count > 1:
        warnings.warn(
            f"{caller} saves the states of the generators of all {count} CUDA devices; name those that are "
            f"used with {keyword}=",
            stacklevel=5,
        )
    return list(range(count))
