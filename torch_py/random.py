"""The default random generator: seeding it, saving and restoring its state.

Its numbers depend on the seed and the order of the draws only, never on the number of threads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from torch_py import _C
from torch_py._C import default_generator
from torch_py._tensor import Tensor

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> _C.Generator:
    """Restarts the default generator from `seed`, an integer in [-2**63, 2**64); a negative one counts from
    2**64. Returns the generator.

    Raises ValueError when `seed` is out of range.
    """
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"manual_seed: expected a seed in [-2**63, 2**64), got {number}")
    return default_generator.manual_seed(number)


def seed() -> int:
    """Seeds the default generator from the operating system's randomness
    and returns the seed, a number of 64 bits."""
    return int(default_generator.seed())


def initial_seed() -> int:
    """The seed the default generator was last given."""
    return int(default_generator.initial_seed())


def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor for `set_rng_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Makes the default generator continue from `new_state`, a uint8 tensor of `get_rng_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restores the state of the generator after the block.

    `devices` must be empty: this build has no accelerators.
    """
    if not enabled:
        yield
        return

    if devices is not None and list(devices):
        raise RuntimeError(
            f"fork_rng: this build has no {device_type or 'cuda'} devices, got devices={list(devices)}"
        )

    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
