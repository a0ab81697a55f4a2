"""The functions of a module for a kind of device that this build does not have: questions are answered,
requests are refused."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

# Questions about any kind of device, and the type whose empty value is the answer without one.
_ANSWERS: dict[str, Callable[[], Any]] = {
    "is_available": bool,
    "is_initialized": bool,
    "is_bf16_supported": bool,
    "is_tf32_supported": bool,
    "device_count": int,
    "memory_allocated": int,
    "max_memory_allocated": int,
    "memory_reserved": int,
    "max_memory_reserved": int,
    "get_arch_list": list,
    "get_rng_state_all": list,
    "memory_stats": OrderedDict,
    "memory_snapshot": list,
    "is_current_stream_capturing": bool,
}
# Portable programs call these unconditionally. They do nothing.
_IDLE = (
    "empty_cache",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "reset_peak_memory_stats",
    "reset_accumulated_memory_stats",
    "ipc_collect",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
)
_REQUESTS = (
    "init",
    "current_device",
    "set_device",
    "get_device_name",
    "get_device_capability",
    "get_device_properties",
    "current_stream",
    "default_stream",
    "set_stream",
    "mem_get_info",
    "synchronize",
    "get_rng_state",
    "set_rng_state",
    "memory_summary",
    "utilization",
    "initial_seed",
    "can_device_access_peer",
    "set_per_process_memory_fraction",
    "temperature",
    "power_draw",
    "clock_rate",
)
_CLASSES = ("Stream", "Event")


class _Device(contextlib.AbstractContextManager["_Device"]):
    """`with device(index):` has no effect for None or a negative index; other indices are refused."""

    _refuse: Callable[[str], NoReturn]

    def __init__(self, device: Any) -> None:
        if device is not None and not (isinstance(device, int) and device < 0):
            type(self)._refuse("device")

    def __exit__(self, *exception: object) -> None:
        pass


def fill(module: dict[str, Any], kind: str, error: type[Exception] = AssertionError) -> None:
    """Adds the functions to a module's globals, unless the module has its own.

    Requests raise `error` with the name of the function.
    """

    def refuse(function: str) -> NoReturn:
        raise error(f"torch.{kind}.{function}: this build of torch_py has no {kind.upper()} support")

    def answering(name: str) -> Callable[..., Any]:
        return lambda *arguments, **keywords: _ANSWERS[name]()

    def refusing(name: str) -> Callable[..., NoReturn]:
        return lambda *arguments, **keywords: refuse(name)

    made: dict[str, Any] = {name: answering(name) for name in _ANSWERS}
    made.update({name: lambda *arguments, **keywords: None for name in _IDLE})
    made.update({name: refusing(name) for name in _REQUESTS})
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__module__ = module["__name__"]
    for name in _CLASSES:
        made[name] = type(
            name,
            (),
            {"__init__": lambda self, *a, _n=name, **k: refuse(_n), "__module__": module["__name__"]},
        )
    made["device"] = type(
        "device", (_Device,), {"_refuse": staticmethod(refuse), "__module__": module["__name__"]}
    )
    made["stream"] = lambda stream: contextlib.nullcontext() if stream is None else refuse("stream")
    made["_is_in_bad_fork"] = lambda: False
    made["default_generators"] = ()
    for name, value in made.items():
        module.setdefault(name, value)
