"""Starts several processes that run one function and waits for them: `spawn` and `start_processes`."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

from torch_py.multiprocessing._parent import when_parent_ends

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
_START_GRACE = 30.0  # seconds between SIGTERM and SIGKILL by default


class ProcessException(Exception):
    """Raised when process `error_index` of a group, with the process id `error_pid`, has failed."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = pid
        self.pid = pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """Raised when the function raised; the message ends with the traceback of the process."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """Raised when a process ended with an exit code or by a signal, whose name is `signal_name`."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(function: Callable[..., Any], index: int, arguments: tuple[Any, ...], error_file: str) -> None:
    when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        function(index, *arguments)
    except KeyboardInterrupt:
        pass  # the parent was interrupted as well, or has ended
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """A group of processes that were started together."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The process ids."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits up to `timeout` seconds for a process to end, and returns whether all have ended without
        error.

        If one has failed, the others are terminated, and killed if they still run after `grace_period`
        seconds. Raises ProcessRaisedException with the traceback of the process, or ProcessExitedException.
        """
        ended: Any = ()
        if self.sentinels:
            ended = multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)

        failed = None
        for sentinel in ended:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0 and failed is None:
                failed = index
        if failed is None:
            return not self.sentinels

        _stop(self.processes, _START_GRACE if grace_period is None else grace_period)
        try:
            self._raise(failed)
        finally:
            for path in self.error_files:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    def _raise(self, index: int) -> NoReturn:
        """Raises the error of a failed process."""
        process = self.processes[index]
        pid = self.processes[index].pid

        error_file = self.error_files[index]
        if os.path.exists(error_file) and os.path.getsize(error_file) > 0:
            with open(error_file, "rb") as file:
                text = pickle.load(file)
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, pid
            )

        code = process.exitcode
        if code >= 0:
            raise ProcessExitedException(
                f"process {index} terminated with exit code {code}", index, pid, code
            )

        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        raise ProcessExitedException(f"process {index} terminated with signal {name}", index, pid, code, name)


def _stop(processes: list[Any], grace_period: float) -> None:
    """Terminates the running processes, and kills those that still run after `grace_period` seconds."""
    for process in processes:
        if process.is_alive():
            process.terminate()

    deadline = time.monotonic() + grace_period
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


class SpawnContext(ProcessContext):
    """The older name of ProcessContext."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, error_files)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs `fn(i, *args)` in processes i = 0, ..., `nprocs` - 1 and waits for them; with ``join=False`` it
    returns their ProcessContext instead.

    Raises what `ProcessContext.join` raises. With the environment variable TORCH_MP_PARALLEL_START=1,
    "forkserver" processes are started in parallel.
    """
    context = multiprocessing.get_context(start_method)
    folder = tempfile.mkdtemp(prefix="torch_py-errors-")
    error_files = [os.path.join(folder, f"{index}.pickle") for index in range(nprocs)]
    started: list[Any] = []

    def start(index: int) -> Any:
        process = context.Process(target=_run, args=(fn, index, args, error_files[index]), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        started.append(process)
        return process

    try:
        is_parallel = os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1" and start_method == "forkserver"
        if is_parallel and nprocs > 0:
            with ThreadPoolExecutor(max_workers=nprocs) as pool:
                processes = list(pool.map(start, range(nprocs)))
        else:
            processes = [start(index) for index in range(nprocs)]
        result = ProcessContext(processes, error_files)
    except BaseException:
        _stop(started, _START_GRACE)
        _remove_folder(folder, os.getpid())
        raise

    weakref.finalize(result, _remove_folder, folder, os.getpid())
    if not join:
        return result

    while not result.join():
        pass
    return None


def _remove_folder(folder: str, owner: int) -> None:
    """Removes a folder, but not in a child of the process that created it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs `start_processes` with new interpreters.

    `fn` and `args` are pickled, so `fn` must be importable by its name.
    """
    if start_method != "spawn":
        warnings.warn(
            f"spawn() starts processes with start_method='spawn', got {start_method!r}; start_processes() "
            "takes the others",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
