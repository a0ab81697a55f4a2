"""Batches per second of a DataLoader with workers, next to PyTorch: medians of paired ratios."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .table import format_table, write_json

# Batches per second, relative to PyTorch's.
GOAL = 1.0


@dataclass(frozen=True)
class Case:
    name: str
    shape: tuple[int, ...]
    examples: int
    batch_size: int
    fresh_workers: bool = False  # started for every pass, as without persistent_workers

    @property
    def batches(self) -> int:
        return -(-self.examples // self.batch_size)


CASES = (
    Case("16 floats, batch 64", (16,), 12800, 64),
    Case("16 floats, batch 64, fresh workers", (16,), 12800, 64, True),
    Case("3x32x32 floats, batch 64", (3, 32, 32), 6400, 64),
    Case("3x224x224 floats, batch 32", (3, 224, 224), 640, 32),
    Case("3x224x224 floats, batch 32, fresh workers", (3, 224, 224), 640, 32, True),
)
_DISTINCT = 64  # examples that are really there; the dataset repeats them


class Examples:
    """Views of a tensor and their numbers: what is measured is the way to the main process."""

    def __init__(self, library: Any, case: Case) -> None:
        self.data = library.ones(min(case.examples, _DISTINCT), *case.shape)
        self.count = case.examples

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.data[index % len(self.data)], index


class Subject:
    """A library and its loader for a case."""

    def __init__(self, name: str, case: Case, workers: int) -> None:
        library = importlib.import_module(name)
        library.set_num_threads(1)  # the processors are for the workers
        loader = importlib.import_module(f"{name}.utils.data").DataLoader
        self.loader = loader(
            Examples(library, case),
            batch_size=case.batch_size,
            num_workers=workers,
            persistent_workers=workers > 0 and not case.fresh_workers,
        )

    def seconds(self) -> float:
        """Of one pass in which each batch is looked at, and dropped for the next."""
        start = time.perf_counter()
        for data, numbers in self.loader:
            data.sum(), numbers[-1]
        return time.perf_counter() - start


def measure(case: Case, names: list[str], workers: int, rounds: int) -> dict[str, Any]:
    subjects = [Subject(name, case, workers) for name in names]
    for subject in subjects:
        subject.seconds()

    times: list[list[float]] = [[] for _ in subjects]
    for _ in range(rounds):
        for subject, column in zip(subjects, times):
            column.append(subject.seconds())

    entry: dict[str, Any] = {
        name: case.batches / statistics.median(column) for name, column in zip(names, times)
    }
    if len(names) == 2:
        entry["ratio"] = statistics.median(theirs / ours for ours, theirs in zip(*times))

    return entry


def describe(result: dict[str, Any]) -> str:
    rows = []
    for name, entry in result["cases"].items():
        peer = [f"{entry['torch']:.0f}", f"{entry['ratio']:.2f}"] if "ratio" in entry else ["-", "-"]
        rows.append([name, f"{entry['torch_py']:.0f}", *peer])

    text = format_table(["batches per second", "torch_py", "torch", "ratio"], rows)
    ratios = [entry["ratio"] for entry in result["cases"].values() if "ratio" in entry]
    if not ratios:
        return text + "\nPyTorch is not installed here: no comparison (pip install torch)"

    return (
        text + f"\n\nsmallest ratio {min(ratios):.2f} (goal: at least {GOAL}) "
        f"{'reached' if min(ratios) >= GOAL else 'MISSED'}"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark dataloader", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=7, help="passes over the data for each case and library"
    )
    parser.add_argument("--workers", type=int, default=2, help="worker processes")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    names = ["torch_py", *(["torch"] if importlib.util.find_spec("torch") is not None else [])]
    cases = [case for case in CASES if options.only in case.name]

    result = {
        "workers": options.workers,
        "cases": {case.name: measure(case, names, options.workers, options.rounds) for case in cases},
    }

    print(describe(result))
    write_json(options.json, result)
    return 0
