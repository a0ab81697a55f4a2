"""CUDA as a program meets it on a build without CUDA: questions are answered, requests are refused.

Calls that portable programs make unconditionally (`empty_cache`, seeding) do nothing, as there is nothing to do.
"""

from __future__ import annotations

from typing import Any, NoReturn

_REFUSAL = "this build of torch_py has no CUDA support"


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def device_count() -> int:
    return 0


def is_bf16_supported() -> bool:
    return False


def _refuse(function: str) -> NoReturn:
    raise AssertionError(f"torch.cuda.{function}: {_REFUSAL}")


def init() -> None:
    _refuse("init")


def current_device() -> int:
    _refuse("current_device")


def set_device(device: Any) -> None:
    _refuse("set_device")


def get_device_name(device: Any = None) -> str:
    _refuse("get_device_name")


def get_device_capability(device: Any = None) -> tuple[int, int]:
    _refuse("get_device_capability")


def get_device_properties(device: Any = None) -> Any:
    _refuse("get_device_properties")


def current_stream(device: Any = None) -> Any:
    _refuse("current_stream")


def mem_get_info(device: Any = None) -> tuple[int, int]:
    _refuse("mem_get_info")


class Stream:
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("Stream")


class Event:
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("Event")


def synchronize(device: Any = None) -> None:
    _refuse("synchronize")


def empty_cache() -> None:
    """Nothing is cached on a device that is not there."""


def manual_seed(seed: int) -> None:
    """No device, no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """No device, no generator to seed."""


def get_rng_state_all() -> list[Any]:
    return []


def set_rng_state_all(states: Any) -> None:
    if list(states):
        _refuse("set_rng_state_all")


def memory_allocated(device: Any = None) -> int:
    return 0


def max_memory_allocated(device: Any = None) -> int:
    return 0


def memory_reserved(device: Any = None) -> int:
    return 0


def max_memory_reserved(device: Any = None) -> int:
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """No statistics are kept without a device."""
