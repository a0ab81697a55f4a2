"""The random generators of CUDA devices, one per device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.cuda._devices import _get_device
from torch_py.cuda._init import _lazy_call, _lazy_init, device_count
from torch_py.cuda._utils import _get_device_index

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def _generator(device: Any = "cuda") -> Any:
    _lazy_init()
    return _C._cuda_defaultGenerator(_get_device_index(_get_device(device), optional=True))


def _generators() -> tuple[Any, ...]:
    """The default generators of all devices; none without CUDA."""
    return tuple(_C._cuda_defaultGenerator(index) for index in range(device_count()))


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of a device's generator: 16 bytes on the CPU, the seed and the count of numbers drawn."""
    return _generator(device).get_state()  # type: ignore[no-any-return]


def get_rng_state_all() -> list[Tensor]:
    """The states of all devices' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Makes a device's generator continue from a state; without CUDA when it comes into use."""
    state = new_state.clone(memory_format=_C.contiguous_format)
    _lazy_call(lambda: _generator(device).set_state(state))


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Sets the states of all devices' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the generator of the current device; without CUDA has no effect until there is one."""
    number = int(seed)
    _lazy_call(lambda: _generator().manual_seed(number))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices, also of those that come into use later."""
    _C._cuda_seedAll(int(seed))


def seed() -> None:
    """Seeds the generator of the current device from the operating system's randomness."""
    _lazy_call(lambda: _generator().seed())


def seed_all() -> None:
    """Seeds the generators of all devices from the operating system's randomness, alike."""

    def seed_devices() -> None:
        drawn = _generator(0).seed()
        for generator in _generators()[1:]:
            generator.manual_seed(drawn)

    _lazy_call(seed_devices)


def initial_seed() -> int:
    """The seed that the generator of the current device was last given."""
    return int(_generator().initial_seed())


def _get_rng_state_offset(device: Any = "cuda") -> int:
    """How many numbers the generator of a device has drawn since it was seeded."""
    return int(_generator(device).get_offset())


def _set_rng_state_offset(offset: int, device: Any = "cuda") -> None:
    _lazy_call(lambda: _generator(device).set_offset(offset))
