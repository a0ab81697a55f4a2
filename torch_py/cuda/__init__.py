"""Tensors on CUDA devices: devices, streams, memory, random numbers, graphs.

The CUDA library is opened when a device is first needed. Without it, or without a GPU, `is_available()` is
False; questions are answered, calls that programs make unconditionally (`empty_cache`, seeding) do nothing,
and what needs a GPU raises an error that says what is missing.
"""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._pytorch_names.tensor_types import NAMES as _LEGACY_NAMES
from torch_py._pytorch_names.tensor_types import cuda_type as _cuda_type
from torch_py.cuda import _init
from torch_py.cuda._devices import _CudaDeviceProperties as _CudaDeviceProperties
from torch_py.cuda._devices import _DeviceGuard as _DeviceGuard
from torch_py.cuda._devices import _exchange_device as _exchange_device
from torch_py.cuda._devices import _get_device as _get_device
from torch_py.cuda._devices import _maybe_exchange_device as _maybe_exchange_device
from torch_py.cuda._devices import can_device_access_peer as can_device_access_peer
from torch_py.cuda._devices import current_device as current_device
from torch_py.cuda._devices import device as device
from torch_py.cuda._devices import device_of as device_of
from torch_py.cuda._devices import get_device_capability as get_device_capability
from torch_py.cuda._devices import get_device_name as get_device_name
from torch_py.cuda._devices import get_device_properties as get_device_properties
from torch_py.cuda._devices import is_bf16_supported as is_bf16_supported
from torch_py.cuda._devices import is_tf32_supported as is_tf32_supported
from torch_py.cuda._devices import set_device as set_device
from torch_py.cuda._devices import synchronize as synchronize
from torch_py.cuda._init import DeferredCudaCallError as DeferredCudaCallError
from torch_py.cuda._init import _is_in_bad_fork as _is_in_bad_fork
from torch_py.cuda._init import _lazy_call as _lazy_call
from torch_py.cuda._init import _lazy_init as _lazy_init
from torch_py.cuda._init import device_count as device_count
from torch_py.cuda._init import init as init
from torch_py.cuda._init import is_available as is_available
from torch_py.cuda._init import is_initialized as is_initialized
from torch_py.cuda._utils import _get_device_index as _get_device_index
from torch_py.cuda.graphs import *  # noqa: F403
from torch_py.cuda.memory import *  # noqa: F403
from torch_py.cuda.memory import CUDAPluggableAllocator as CUDAPluggableAllocator
from torch_py.cuda.memory import MemPool as MemPool
from torch_py.cuda.memory import caching_allocator_disabled as caching_allocator_disabled
from torch_py.cuda.random import *  # noqa: F403
from torch_py.cuda.random import _get_rng_state_offset as _get_rng_state_offset
from torch_py.cuda.random import _set_rng_state_offset as _set_rng_state_offset
from torch_py.cuda.streams import Event as Event
from torch_py.cuda.streams import ExternalStream as ExternalStream
from torch_py.cuda.streams import Stream as Stream
from torch_py.cuda.streams import StreamContext as StreamContext
from torch_py.cuda.streams import _set_stream_by_id as _set_stream_by_id
from torch_py.cuda.streams import current_stream as current_stream
from torch_py.cuda.streams import default_stream as default_stream
from torch_py.cuda.streams import get_stream_from_external as get_stream_from_external
from torch_py.cuda.streams import set_stream as set_stream
from torch_py.cuda.streams import stream as stream

OutOfMemoryError = _C.OutOfMemoryError

has_half = True
has_magma = False

# What asks NVIDIA's management library in PyTorch, and the tool that shows it.
_MANAGEMENT = "needs NVIDIA's management library, which torch_py does not use; see nvidia-smi"


def _is_compiled() -> bool:
    """Whether the CUDA library is there."""
    return bool(_C._cuda_isLoaded())


def host_fallbacks() -> dict[str, int]:
    """How often each operator without a CUDA kernel ran its CPU kernel on copies, by name."""
    return dict(_C._cuda_hostFallbacks())


def reset_host_fallbacks() -> None:
    """Starts the counts of `host_fallbacks` again from 0."""
    _C._cuda_resetHostFallbacks()


def ipc_collect() -> None:
    """Frees memory that other processes opened and have closed."""
    _lazy_init()
    importlib.import_module("torch_py.cuda._sharing").collect()
    _C._cuda_ipc_collect()


def get_sync_debug_mode() -> int:
    """How synchronising operators are reported: always 0, not at all."""
    _lazy_init()
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Has no effect for 0 or "default"; raises NotImplementedError for warnings and errors, and RuntimeError
    for other modes."""
    _lazy_init()
    modes = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str) and debug_mode not in modes:
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    if modes.get(debug_mode, debug_mode) != 0:  # type: ignore[call-overload]
        raise NotImplementedError(
            "torch.cuda.set_sync_debug_mode: torch_py does not report operators that synchronise; "
            "docs/synchronising.md lists them"
        )


def get_arch_list() -> list[str]:
    """The architectures that the CUDA library has code for; empty without a device."""
    if not is_available():
        return []
    major, minor = get_device_capability()
    return [f"sm_{major}{minor}"]


def get_gencode_flags() -> str:
    """The flags with which nvcc compiles for the architectures of `get_arch_list`."""
    numbers = [name.removeprefix("sm_") for name in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{number},code=sm_{number}" for number in numbers)


def _refuse(function: str, why: str) -> NoReturn:
    _lazy_init()  # without CUDA, that is the reason
    raise NotImplementedError(f"torch.cuda.{function}: {why}")


def cudart() -> NoReturn:
    """Raises NotImplementedError: the runtime is part of the CUDA library and not a module."""
    _refuse("cudart", "the CUDA runtime is not available as a module")


def current_blas_handle() -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("current_blas_handle", "torch_py has no cuBLAS handle to share")


def current_solver_handle() -> NoReturn:
    """Raises NotImplementedError."""
    _refuse("current_solver_handle", "torch_py has no cuSOLVER handle to share")


def utilization(device: Any = None) -> int:
    """Raises ModuleNotFoundError: see `temperature`."""
    raise ModuleNotFoundError(f"torch.cuda.utilization {_MANAGEMENT}")


def temperature(device: Any = None) -> int:
    """Raises ModuleNotFoundError: torch_py does not use NVIDIA's management library."""
    raise ModuleNotFoundError(f"torch.cuda.temperature {_MANAGEMENT}")


def power_draw(device: Any = None) -> int:
    """Raises ModuleNotFoundError: see `temperature`."""
    raise ModuleNotFoundError(f"torch.cuda.power_draw {_MANAGEMENT}")


def clock_rate(device: Any = None) -> int:
    """Raises ModuleNotFoundError: see `temperature`."""
    raise ModuleNotFoundError(f"torch.cuda.clock_rate {_MANAGEMENT}")


def memory_usage(device: Any = None) -> int:
    """Raises ModuleNotFoundError: see `temperature`."""
    raise ModuleNotFoundError(f"torch.cuda.memory_usage {_MANAGEMENT}")


def device_memory_used(device: Any = None) -> int:
    """The bytes of a device that are in use, by all processes."""
    if not is_available():
        raise ModuleNotFoundError(f"torch.cuda.device_memory_used {_MANAGEMENT}")
    free, total = mem_get_info(device)  # noqa: F405
    return total - free


class CudaError(RuntimeError):
    """An error of the CUDA runtime, with its number."""

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error ({code})")


def check_error(res: int) -> None:
    """Raises CudaError unless the number is 0."""
    if res != 0:
        raise CudaError(res)


class cudaStatus:  # noqa: N801
    """Numbers that functions of the CUDA runtime return."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


_LAZY_MODULES = ("amp", "nvtx")
_absent = _lacking(__name__, __path__)  # noqa: F405


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        # Imported here: the module's name is also that of a function of another.
        return importlib.import_module("torch_py.cuda.random")._generators()
    if name == "_initialized":
        return _init.is_initialized()
    if name in _LAZY_MODULES:
        return importlib.import_module(f"torch_py.cuda.{name}")
    if name in _LEGACY_NAMES:
        globals()[name] = _cuda_type(name)
        return globals()[name]
    if name.endswith("Storage"):
        storage = importlib.import_module("torch_py.storage")
        if name in storage.LEGACY_NAMES:
            globals()[name] = storage.cuda_storage_type(name)
            return globals()[name]
    return _absent(name)
