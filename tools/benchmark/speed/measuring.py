"""Times a case in every library by turns, each in its own process on the same core."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import limits

ROOT = Path(__file__).resolve().parents[3]
# A case whose calibration loop ran this much slower before or after than at its best is taken again.
DISTURBED = 0.05
ATTEMPTS = 3


class Library:
    """A worker process."""

    def __init__(self, name: str, threads: int, cores: str) -> None:
        self.name = name
        command = [sys.executable, "-m", "tools.benchmark.speed.worker", name, str(threads), cores]
        # NumPy's and JAX's libraries read these when they are loaded.
        variables = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)
        )
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **variables},
        )

    def ask(self, **command: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else f"the process of {self.name} ended"

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Result:
    """The figures of one case. `ratio` is the median over the rounds of torch_py's time by torch's."""

    case: str
    seconds: dict[str, float] = field(default_factory=dict)
    ratio: float | None = None
    problems: dict[str, str] = field(default_factory=dict)
    disturbance: float = 0.0


def timed_rounds(libraries: list[Library], rounds: int) -> list[dict[str, float]]:
    return [{library.name: library.ask(do="measure") for library in libraries} for _ in range(rounds)]


def result_of(case: str, rounds: list[dict[str, Any]]) -> Result:
    result = Result(case)
    for name in rounds[0]:
        times = [each[name] for each in rounds]
        words = [time for time in times if isinstance(time, str)]
        if words:
            result.problems[name] = words[0]
        else:
            result.seconds[name] = min(times)

    if "torch_py" in result.seconds and "torch" in result.seconds:
        result.ratio = statistics.median(each["torch_py"] / each["torch"] for each in rounds)
    return result


def measure(case: str, libraries: list[Library], rounds: int, seconds: float, slowed: bool = False) -> Result:
    """The least disturbed of a few attempts. `slowed`: torch_py makes each call three times."""
    ready = []
    problems = {}
    for library in libraries:
        calls = 3 if slowed and library.name == "torch_py" else 1
        count = library.ask(do="prepare", case=case, seconds=seconds, calls=calls)
        if isinstance(count, str):
            problems[library.name] = count
        elif count > 0:
            ready.append(library)
    if not ready:
        return Result(case, problems=problems)

    best: Result | None = None
    for _ in range(ATTEMPTS):
        before = limits.calibration()
        result = result_of(case, timed_rounds(ready, rounds))
        after = limits.calibration()
        result.disturbance = 1 - min(before, after) / best_calibration(before, after)
        if best is None or result.disturbance < best.disturbance:
            best = result
        if best.disturbance < DISTURBED:
            break

    assert best is not None
    best.problems.update(problems)
    return best


_best_rate = 0.0


def best_calibration(*rates: float) -> float:
    """The highest rate of this run so far."""
    global _best_rate
    _best_rate = max(_best_rate, *rates)
    return _best_rate


def start(names: list[str], threads: int) -> list[Library]:
    """A process for each library, all on the same cores; this process moves to the first of them, too."""
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    text = ",".join(str(core) for core in cores)
    libraries = [Library(name, threads, text) for name in names]
    os.sched_setaffinity(0, {cores[0]})
    return libraries
