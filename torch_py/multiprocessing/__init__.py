"""Python's `multiprocessing`, with queues, pipes and processes that pass tensors through shared memory.

A tensor that is sent keeps its memory: sender and receiver see each other's writes. The memory does not have
a name in the file system and is freed when the last process that maps it ends, however it ends.

After a fork the child runs operators and `backward` on one thread, whatever `set_num_threads` says, because
the threads of the parent's pool do not exist there. Processes started with "spawn" or "forkserver" have their
own pool.
"""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing import *  # noqa: F403
from typing import Any

from torch_py.multiprocessing.reductions import init_reductions
from torch_py.multiprocessing.spawn import (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    *multiprocessing.__all__,
]  # type: ignore[attr-defined]
_LAUNCHING = (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    init_reductions,
    spawn,
    start_processes,
)

_STRATEGIES = ("file_descriptor", "file_system")
_state = {"strategy": _STRATEGIES[0]}


def get_all_sharing_strategies() -> set[str]:
    """The names of the sharing strategies."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name of the current sharing strategy."""
    return _state["strategy"]


def set_sharing_strategy(new_strategy: str) -> None:
    """Sets how memory is passed between processes. It is always passed by descriptor.

    "file_system", which PyTorch offers for programs that share more tensors than a process may have open
    files, raises that limit as far as the system allows. Raises AssertionError for another name.
    """
    if new_strategy not in _STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {', '.join(_STRATEGIES)}"
        )

    if new_strategy == "file_system":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    _state["strategy"] = new_strategy


def _set_thread_name(name: str) -> None:
    threading.current_thread().name = name


def _get_thread_name() -> str:
    return threading.current_thread().name


def __getattr__(name: str) -> Any:
    return getattr(multiprocessing, name)


init_reductions()
