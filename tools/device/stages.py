"""What the check runs, each stage in a process of its own with a limit on its time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.copies import ROOT

RESULTS = "TORCH_PY_DEVICE_RESULTS"  # the folder for what stages measure


def keep(name: str, values: Any) -> None:
    """Writes what a stage has measured, if it runs in a check."""
    if RESULTS in os.environ:
        (Path(os.environ[RESULTS]) / f"{name}.json").write_text(json.dumps(values, indent=1))


@dataclass(frozen=True)
class Stage:
    command: tuple[str, ...]
    seconds: float  # at most


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)


_WORKERS = str(max(1, (os.cpu_count() or 2) - 2))
_PYTEST = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider")
STAGES = {
    "machine": Stage(("nvidia-smi",), 20),
    "smoke": Stage(_python("-m", "tools.device.smoke"), 100),
    "tests": Stage(_python(*_PYTEST, "-n", _WORKERS, "--dist", "worksteal", "tests/cuda"), 240),
    "sanitizer": Stage(
        (
            *("compute-sanitizer", "--target-processes", "all", "--error-exitcode", "9"),
            *_python(*_PYTEST, "tests/cuda/test_rows.py", "tests/cuda/test_ordering.py"),
        ),
        90,
    ),
    "training": Stage(_python("-m", "tools.device.training"), 100),
    "figures": Stage(_python("-m", "tools.device.figures"), 150),
}


def run(names: list[str], results: Path, seconds: float) -> int:
    """Runs the stages, prints how each ended and writes a log for each; the number of those that failed."""
    results.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    endings = {}
    for name in names:
        (results / f"{name}.json").unlink(missing_ok=True)
        (results / f"{name}.log").unlink(missing_ok=True)
        limit = min(STAGES[name].seconds, end - time.monotonic())
        started = time.monotonic()
        ending = _run(STAGES[name], results / f"{name}.log", limit) if limit > 1 else "no time left"
        endings[name] = ending
        print(f"{name}: {ending} after {time.monotonic() - started:.0f} s", flush=True)
        print(_tail(results / f"{name}.log"), flush=True)
        (results / "stages.json").write_text(json.dumps(endings))
    return sum(ending != "passed" for ending in endings.values())


def _run(stage: Stage, log: Path, limit: float) -> str:
    environment = {**os.environ, RESULTS: str(log.parent.resolve())}
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                stage.command,
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except FileNotFoundError:
            return f"{stage.command[0]} is not there"

        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what it has started must not disturb the next stage
            process.wait()
            return "stopped"

    return "passed" if status == 0 else f"failed with status {status}"


def _tail(log: Path, characters: int = 1500) -> str:
    return log.read_text(errors="replace")[-characters:] if log.exists() else ""
