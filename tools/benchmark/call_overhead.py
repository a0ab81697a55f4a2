"""The overhead of one call on tiny tensors, next to PyTorch: medians of paired ratios."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import statistics
import timeit
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .table import format_table, write_json

# Goals for the geometric mean of the ratios, and for the largest of them.
MEAN_GOAL, LARGEST_GOAL = 0.4, 0.8
SETUP = """
a, b = torch.ones(4), torch.full((4,), 2.0)
m = torch.ones(2, 2)
g = torch.ones(4, requires_grad=True)
x, w = torch.ones(4, 4), torch.ones(4, 4, requires_grad=True)
def step():
    loss = (x @ w).relu().sum()
    loss.backward()
    w.grad = None
"""


@dataclass(frozen=True)
class Case:
    name: str
    statement: str


CASES = (
    Case("add", "torch.add(a, b)"),
    Case("mul scalar", "a * 2.0"),
    Case("relu", "torch.relu(a)"),
    Case("sum", "a.sum()"),
    Case("view", "m.view(4)"),
    Case("transpose", "m.transpose(0, 1)"),
    Case("index", "m[0, 1]"),
    Case("cat", "torch.cat([a, b])"),
    Case("empty", "torch.empty(4)"),
    Case("add with requires_grad", "torch.add(g, b)"),
    Case("small forward+backward", "step()"),
)


class Subject:
    """One library, its tensors made."""

    def __init__(self, name: str) -> None:
        self.library = importlib.import_module(name)
        self.library.set_num_threads(1)
        self.globals: dict[str, Any] = {"torch": self.library}
        exec(SETUP, self.globals)

    def timer(self, case: Case) -> timeit.Timer:
        return timeit.Timer(case.statement, globals=self.globals)


def repetitions(timer: timeit.Timer, seconds: float) -> int:
    """How many calls take about `seconds`."""
    timer.timeit(100)
    return max(100, int(seconds / (timer.timeit(200) / 200)))


def measure(case: Case, subjects: list[Subject], rounds: int, seconds: float) -> list[list[float]]:
    """The seconds of one call: for each subject, one figure per round.

    The subjects take turns within a round.
    """
    timers = [subject.timer(case) for subject in subjects]
    counts = [repetitions(timer, seconds) for timer in timers]
    times: list[list[float]] = [[] for _ in subjects]
    for _ in range(rounds):
        for timer, count, column in zip(timers, counts, times):
            column.append(timer.timeit(count) / count)
    return times


def compare(rounds: int, seconds: float) -> dict[str, Any]:
    has_peer = importlib.util.find_spec("torch") is not None
    subjects = [Subject("torch_py"), *([Subject("torch")] if has_peer else [])]
    result: dict[str, Any] = {
        "peer": getattr(subjects[1].library, "__version__", None) if has_peer else None,
        "cases": {},
    }

    for case in CASES:
        times = measure(case, subjects, rounds, seconds)
        entry = {"statement": case.statement, "torch_py": statistics.median(times[0])}
        if has_peer:
            entry["torch"] = statistics.median(times[1])
            entry["ratio"] = statistics.median(ours / theirs for ours, theirs in zip(*times))
        result["cases"][case.name] = entry

    if has_peer:
        ratios = [entry["ratio"] for entry in result["cases"].values()]
        result["geometric_mean"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
        result["largest"] = max(ratios)

    return result


def describe(result: dict[str, Any]) -> str:
    if result["peer"] is None:
        rows = [[name, f"{entry['torch_py'] * 1e6:.3f}"] for name, entry in result["cases"].items()]
        return (
            format_table(["call", "torch_py µs"], rows)
            + "\nPyTorch is not installed here: no comparison (pip install torch)"
        )

    rows = [
        [name, f"{entry['torch_py'] * 1e6:.3f}", f"{entry['torch'] * 1e6:.3f}", f"{entry['ratio']:.3f}"]
        for name, entry in result["cases"].items()
    ]
    mean, largest = result["geometric_mean"], result["largest"]

    return (
        format_table(["call", "torch_py µs", f"torch {result['peer']} µs", "ratio"], rows)
        + f"\n\ngeometric mean {mean:.3f} (goal: at most {MEAN_GOAL}) "
        f"{'reached' if mean <= MEAN_GOAL else 'MISSED'}"
        + f"\nlargest ratio  {largest:.3f} (goal: at most {LARGEST_GOAL}) "
        f"{'reached' if largest <= LARGEST_GOAL else 'MISSED'}"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark calls", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="measurements of each call and library")
    parser.add_argument("--seconds", type=float, default=0.02, help="length of one measurement")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    result = compare(options.rounds, options.seconds)
    print(describe(result))
    write_json(options.json, result)
    return 0
