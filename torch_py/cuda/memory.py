"""The memory of CUDA devices: statistics, limits, the cache of the allocator."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import json
import pickle
from collections.abc import Iterator
from typing import Any, NoReturn

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.cuda._devices import device as _device_block
from torch_py.cuda._init import _lazy_init, device_count, is_initialized
from torch_py.cuda._summary import summary as _summary
from torch_py.cuda._utils import _get_device_index

__all__ = [
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_enable",
    "change_current_allocator",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]


def _lacks(name: str, what: str) -> NoReturn:
    raise NotImplementedError(f"torch.cuda.{name}: torch_py has no {what}")


# -- Statistics ---------------------------------------------------------------------------------------


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Counts and bytes of the allocator by dotted names, such as "allocated_bytes.all.peak", sorted.

    Empty as long as no CUDA device is in use.
    """
    if not is_initialized():
        return collections.OrderedDict()
    found = _C._cuda_memoryStats(_get_device_index(device, optional=True))
    return collections.OrderedDict(sorted(found.items()))


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """`memory_stats` with a dict for each part of the dotted names."""
    return _nested(memory_stats(device))


def _nested(statistics: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in statistics.items():
        *path, last = name.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return nested


def _statistic(name: str, device: Any) -> int:
    return int(memory_stats(device).get(name, 0))


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors use."""
    return _statistic("allocated_bytes.all.current", device)


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors have used since the last `reset_peak_memory_stats`."""
    return _statistic("allocated_bytes.all.peak", device)


def memory_reserved(device: Any = None) -> int:
    """The bytes that the allocator has taken from the driver."""
    return _statistic("reserved_bytes.all.current", device)


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes taken from the driver since the last `reset_peak_memory_stats`."""
    return _statistic("reserved_bytes.all.peak", device)


def memory_cached(device: Any = None) -> int:
    """The older name of `memory_reserved`."""
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """The older name of `max_memory_reserved`."""
    return max_memory_reserved(device)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Starts the peaks again from the current values; without CUDA in use there is nothing to do."""
    if is_initialized():
        _C._cuda_resetPeakMemoryStats(_get_device_index(device, optional=True))


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Starts the sums of allocated and freed bytes again from 0."""
    if is_initialized():
        _C._cuda_resetAccumulatedMemoryStats(_get_device_index(device, optional=True))


def reset_max_memory_allocated(device: Any = None) -> None:
    """The older name of `reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """The older name of `reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def host_memory_stats() -> dict[str, Any]:
    """Counts, bytes and times of the allocator of pinned memory, by dotted names, sorted.

    "active_requests" and "active_bytes" are of blocks in use, "allocations" and "allocated_bytes" of those
    in use and cached: their "current" and "peak", and the sums "allocated" and "freed". "num_host_alloc" and
    "num_host_free" count the calls of the driver; "host_alloc_time" and "host_free_time" have their times in
    microseconds. Empty as long as no CUDA device is in use.
    """
    if not is_initialized():
        return collections.OrderedDict()
    return collections.OrderedDict(sorted(_C._cuda_hostMemoryStats().items()))


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """`host_memory_stats` with a dict for each part of the dotted names."""
    return _nested(host_memory_stats())


def reset_peak_host_memory_stats() -> None:
    """Starts the peaks of pinned memory again from the current values."""
    if is_initialized():
        _C._cuda_resetPeakHostMemoryStats()


def reset_accumulated_host_memory_stats() -> None:
    """Starts the sums, the counts of calls and the times of pinned memory again from 0."""
    if is_initialized():
        _C._cuda_resetAccumulatedHostMemoryStats()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of `memory_stats`; `abbreviated` leaves out the rows for small and large blocks."""
    _lazy_init()
    return _summary(memory_stats(device), _get_device_index(device, optional=True), abbreviated)


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """The segments of all devices and the blocks in them, also those of other pools than `mempool_id`'s if
    it is None."""
    if not is_initialized():
        return []
    segments = json.loads(_C._cuda_memorySnapshot())
    if isinstance(segments, dict):
        segments = segments.get("segments", [])
    if mempool_id is None:
        return list(segments)
    return [one for one in segments if tuple(one.get("segment_pool_id", ())) == tuple(mempool_id)]


def _snapshot(device: Any = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """What the viewer of snapshots reads; histories of allocations are not recorded."""
    return {
        "segments": memory_snapshot(),
        "device_traces": [[] for _ in range(device_count())],
        "allocator_settings": {},
    }


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Writes `_snapshot` to a file."""
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file)


# -- Limits and the cache -----------------------------------------------------------------------------


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The free and the total bytes of a device."""
    _lazy_init()
    return _C._cuda_memoryInfo(_get_device_index(device, optional=True))


def empty_cache() -> None:
    """Gives cached memory that no tensor uses back to the driver."""
    if is_initialized():
        _C._cuda_emptyCache()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limits the memory that this process may use to a part of the device's total.

    Raises TypeError unless `fraction` is a float, and ValueError unless it is in [0, 1].
    """
    _lazy_init()
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C._cuda_setMemoryFraction(fraction, _get_device_index(device, optional=True))


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The part of the device's memory that this process may use."""
    _lazy_init()
    return float(_C._cuda_getMemoryFraction(_get_device_index(device, optional=True)))


def list_gpu_processes(device: Any = None) -> str:
    """Raises NotImplementedError: the processes of a GPU are known to the management library only."""
    _lacks("list_gpu_processes", "access to NVIDIA's management library; see nvidia-smi")


def caching_allocator_alloc(size: int, device: Any = None, stream: Any = None) -> int:
    """The address of `size` bytes of the allocator, for other libraries; `caching_allocator_delete` frees
    them.

    Args:
        device: by default the current one.
        stream: where the memory is used first: a `Stream` or the address of one; by default the current one.
    """
    _lazy_init()
    index = _get_device_index(device, optional=True)
    with _device_block(index):
        handle = _C._cuda_getCurrentRawStream(index) if stream is None else stream
        handle = getattr(handle, "cuda_stream", handle)
        if not isinstance(handle, int):
            raise TypeError(
                "Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a "
                "pointer to a existing stream"
            )
        return int(_C._cuda_cudaCachingAllocator_raw_alloc(size, handle))


def caching_allocator_delete(mem_ptr: int) -> None:
    """Frees what `caching_allocator_alloc` returned."""
    _C._cuda_cudaCachingAllocator_raw_delete(mem_ptr)


def caching_allocator_enable(value: bool = True) -> None:
    """Has no effect for True; raises NotImplementedError for False, as torch_py always caches memory."""
    if not value:
        _lacks("caching_allocator_enable(False)", "allocator without a cache")


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Raises NotImplementedError: see `caching_allocator_enable`."""
    caching_allocator_enable(False)
    yield


def get_allocator_backend() -> str:
    """The kind of allocator, always "native"."""
    return "native"


# -- Other pools and allocators -----------------------------------------------------------------------


def change_current_allocator(allocator: Any) -> NoReturn:
    """Raises NotImplementedError: torch_py has one allocator."""
    _lacks("change_current_allocator", "pluggable allocators")


class CUDAPluggableAllocator:
    """Raises OSError for a library that does not exist, else NotImplementedError."""

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        ctypes.CDLL(path_to_so_file)
        _lacks("CUDAPluggableAllocator", "pluggable allocators")


class MemPool:
    """Raises NotImplementedError: memory has pools of its own only for graphs (`graph_pool_handle`)."""

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        _lacks("MemPool", "pools of memory outside of graphs")


@contextlib.contextmanager
def use_mem_pool(pool: Any, device: Any = None) -> Iterator[None]:
    """Raises NotImplementedError: see `MemPool`."""
    _lazy_init()
    _lacks("use_mem_pool", "pools of memory outside of graphs")
    yield


def _record_memory_history(enabled: Any = "all", *options: Any, **keywords: Any) -> None:
    """Has no effect for None, which ends a recording; else NotImplementedError."""
    if enabled is not None:
        _lacks("memory._record_memory_history", "history of allocations; memory_snapshot shows the present")


__getattr__ = _lacking(__name__)
