"""The memory of every example and of a loop of changing shapes, next to PyTorch.

The peak is the largest memory of the process, resident is what it has after the last step. Both contain the
library itself; what the steps added to the memory before the first of them is given as well.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import itertools
import math
import multiprocessing
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .table import format_table, write_json
from .training_steps import EXAMPLES, examples, load

# The largest ratios that a program may have.
GOALS = {"peak": 0.6, "resident": 1.25}
ROOT = Path(__file__).resolve().parents[2]
CHANGING_SHAPES = "changing shapes"


def changing_shapes(torch: Any, small: bool) -> Iterator[float]:
    """Attention and a network on batches whose size and length are new in every step."""
    draw = random.Random(0)
    width, longest = (32, 32) if small else (256, 512)
    network = torch.nn.Sequential(
        torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
    )

    while True:
        batch = torch.randn(draw.randint(1, 16), draw.randint(1, longest), width, requires_grad=True)
        scores = torch.softmax(batch @ batch.transpose(1, 2), -1)
        loss = (network(scores @ batch) ** 2).mean()
        loss.backward()
        yield loss.item()


def steps_of(name: str, library: str, small: bool) -> Iterator[float]:
    if name == CHANGING_SHAPES:
        return changing_shapes(importlib.import_module(library), small)
    sys.path.insert(0, str(EXAMPLES))
    return load(name, library).training(small)


def resident_kilobytes(process: int | str) -> int:
    """The memory of a process; pages that several processes share count in proportion."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def run_program(name: str, library: str, small: bool, count: int) -> None:
    """Takes the steps, and prints kilobytes: of the process before and after, and the most of its workers."""
    workers = 0
    importlib.import_module(library)
    before = resident_kilobytes("self")
    for _ in itertools.islice(steps_of(name, library, small), count):
        children = multiprocessing.active_children()
        workers = max(workers, sum(resident_kilobytes(child.pid or 0) for child in children))
    print(before, resident_kilobytes("self"), workers)


def bytes_used(name: str, library: str, small: bool, count: int, threads: int) -> dict[str, int]:
    """The memory of one process that runs the program, and of its workers."""
    options = [name, "--program", library, "--steps", str(count), *(["--small"] if small else [])]
    with subprocess.Popen(
        [sys.executable, "-m", "tools.benchmark", "memory", *options],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)

    if process.returncode != 0:
        raise RuntimeError(f"{name} with {library} ended with status {process.returncode}")
    before, resident, workers = (int(number) * 1024 for number in output.split()[-3:])
    peak = usage.ru_maxrss * 1024 + workers
    return {"peak": peak, "resident": resident + workers, "of steps": peak - before}


def ratios_of(result: dict[str, dict[str, dict[str, int]]], kind: str) -> dict[str, float]:
    """By program; empty without PyTorch."""
    return {
        name: used["torch_py"][kind] / used["torch"][kind] for name, used in result.items() if "torch" in used
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark memory", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"examples or '{CHANGING_SHAPES}', all by default")
    parser.add_argument("--steps", type=int, default=20, help="steps of each program")
    parser.add_argument("--small", action="store_true", help="the examples' small sizes")
    parser.add_argument("--threads", type=int, default=1, help="threads of both libraries")
    parser.add_argument("--program", metavar="LIBRARY", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    names = options.names or [*examples(), CHANGING_SHAPES]
    if options.program:
        run_program(names[0], options.program, options.small, options.steps)
        return 0

    libraries = ["torch_py", *(["torch"] if importlib.util.find_spec("torch") else [])]
    result: dict[str, dict[str, dict[str, int]]] = {}
    for name in names:
        result[name] = {
            library: bytes_used(name, library, options.small, options.steps, options.threads)
            for library in libraries
        }

    for kind in ("peak", "resident", "of steps"):
        ratios = ratios_of(result, kind)
        rows = [
            [
                name,
                *(f"{used[library][kind] / 1e6:.0f}" for library in libraries),
                f"{ratios[name]:.2f}" if ratios else "-",
            ]
            for name, used in result.items()
        ]
        print(format_table([f"{kind}, MB", *libraries, "ratio"], rows))

        goal = GOALS.get(kind, math.inf)
        missed = [name for name, ratio in ratios.items() if ratio > goal]
        if ratios and kind in GOALS:
            print(
                f"goal: at most {goal} for each; {'MISSED by ' + ', '.join(missed) if missed else 'reached'}"
            )
        print()

    write_json(options.json, {"memory": result})
    return 0
