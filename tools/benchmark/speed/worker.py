"""One warm process of one library: prepares a case, then times it whenever it is told to.

Started by measuring.py as `python -m tools.benchmark.speed.worker LIBRARY THREADS CORES`. A line of JSON in
is a command, a line of JSON out is its answer.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from . import peers
from .cases import find

Call = Callable[[], Any]
Clock = Callable[[], float]


def prepare(library: str, name: str, threads: int) -> Call | None:
    """The call of a case; None where the library has none."""
    case = find(name)
    if library in ("torch_py", "torch"):
        module = importlib.import_module(library)
        module.manual_seed(0)
        return case.make(module, peers.maker(module.from_numpy))
    return peers.prepare(library, case, threads)


def repeated(call: Call | None, times: int) -> Call | None:
    """Makes the call several times, as if it were so much slower."""
    if call is None or times == 1:
        return call
    return lambda: [call() for _ in range(times)]


def clock_for(threads: int) -> Clock:
    """On a single core, the time of the processor: programs that take turns with this one do not count."""
    return time.process_time if threads == 1 else time.perf_counter


def elapsed(call: Call, count: int, clock: Clock) -> float:
    """Seconds of one call, in the mean of `count`."""
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def repetitions(call: Call, seconds: float, clock: Clock) -> int:
    call()
    shortest = min(elapsed(call, 1, clock) for _ in range(3))
    return max(1, int(seconds / max(shortest, 1e-7)))


def main() -> None:
    library, threads_text, cores = sys.argv[1:]
    threads = int(threads_text)
    clock = clock_for(threads)
    os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    warnings.simplefilter("ignore")
    if library in ("torch_py", "torch"):
        importlib.import_module(library).set_num_threads(threads)

    call: Call | None = None
    count = 1
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if command["do"] == "prepare":
                call = None
                call = repeated(prepare(library, command["case"], threads), command["calls"])
                count = repetitions(call, command["seconds"], clock) if call is not None else 0
                answer: Any = count
            else:
                assert call is not None
                answer = elapsed(call, count, clock)
        except Exception as error:  # of whatever the library lacks
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
