"""Training steps with one and two threads while another program uses every core, next to PyTorch.

A thread that waits for one whose core is busy loses a time slice of the system in each loop. The figures are
milliseconds per step, with idle cores and with busy ones. Needs at least two cores.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .table import format_table, write_json

# With busy cores, two threads may take at most this much longer than one.
GOAL = 1.2
ROOT = Path(__file__).resolve().parents[2]


def network(torch: Any, *widths: int, batch: int) -> Callable[[], Any]:
    """A training step of a network of linear layers."""
    layers = [
        layer
        for inputs, outputs in zip(widths, widths[1:])
        for layer in (torch.nn.Linear(inputs, outputs), torch.nn.ReLU())
    ]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), 1e-4)
    inputs, labels = torch.randn(batch, widths[0]), torch.arange(batch) % widths[-1]

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    return step


CASES: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "MLP 64-128-128-10, batch 32": lambda torch: network(torch, 64, 128, 128, 10, batch=32),
    "MLP 256-512-512-10, batch 128": lambda torch: network(torch, 256, 512, 512, 10, batch=128),
    "randn 10^6": lambda torch: lambda: torch.randn(10**6),
    "add 10^6": lambda torch: (lambda x: lambda: x + x)(torch.randn(10**6)),
}


@contextlib.contextmanager
def busy(cores: set[int]) -> Iterator[None]:
    """A program on each core that never waits."""
    spinners = [
        subprocess.Popen(
            [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"]
        )
        for core in cores
    ]
    try:
        time.sleep(0.2)
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def time_step(name: str, library: str, threads: int, seconds: float) -> float:
    """Milliseconds of a step, in the mean over `seconds`: on busy cores, a few take the time of many."""
    torch = importlib.import_module(library)
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    step = CASES[name](torch)
    for _ in range(3):
        step()

    count = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        step()
        count += 1
    return elapsed / count * 1e3


def measure(name: str, library: str, threads: int, seconds: float) -> float:
    """`time_step` in a process of its own."""
    options = [name, "--program", library, "--threads", str(threads), "--seconds", str(seconds)]
    output = subprocess.run(
        [sys.executable, "-m", "tools.benchmark", "busy", *options],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return float(json.loads(output.splitlines()[-1]))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark busy", description=__doc__)
    parser.add_argument("names", nargs="*", help="cases, all by default")
    parser.add_argument(
        "--rounds", type=int, default=3, help="measurements of each figure; the median counts"
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement")
    parser.add_argument("--threads", type=int, default=2, help="how many threads to compare with one")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--program", metavar="LIBRARY", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.program:
        print(json.dumps(time_step(options.names[0], options.program, options.threads, options.seconds)))
        return 0

    cores = os.sched_getaffinity(0)
    if len(cores) < options.threads:
        print(f"{options.threads} threads need as many cores; this process has {len(cores)}")
        return 0

    libraries = [name for name in ("torch_py", "torch") if importlib.util.find_spec(name) is not None]
    figures: dict[str, dict[str, float]] = {}
    for name in options.names or CASES:
        found: dict[str, list[float]] = {}
        for _ in range(options.rounds):
            for library in libraries:
                for threads in (1, options.threads):
                    for state in ("idle", "busy"):
                        with busy(cores) if state == "busy" else contextlib.nullcontext():
                            step = measure(name, library, threads, options.seconds)
                        found.setdefault(f"{library} {threads} {state}", []).append(step)
        figures[name] = {key: statistics.median(times) for key, times in found.items()}
        print(f"{name}: {figures[name]}", file=sys.stderr, flush=True)

    columns = list(next(iter(figures.values())))
    rows = [[name, *(f"{each[column]:.2f}" for column in columns)] for name, each in figures.items()]
    print(format_table(["ms with threads and cores", *columns], rows))

    loss = {
        name: each[f"torch_py {options.threads} busy"] / each["torch_py 1 busy"]
        for name, each in figures.items()
    }
    missed = [f"{name} ({ratio:.2f})" for name, ratio in loss.items() if ratio > GOAL]
    verdict = f"MISSED by {', '.join(missed)}" if missed else "reached"
    print(f"\ngoal: with busy cores, {options.threads} threads take at most {GOAL} x one thread; {verdict}")
    write_json(options.json, {"busy": figures})
    return 0
