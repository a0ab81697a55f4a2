"""A training step of every example: the same file with its imports changed, next to PyTorch."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from .table import format_table, write_json

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# The largest ratio that an example may have: the median over its rounds.
GOAL = 1.0


def examples() -> list[str]:
    """The programs that define `training`."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py") if "\ndef training(" in path.read_text())


def load(name: str, library: str) -> ModuleType:
    """An example that imports `library`."""
    path = EXAMPLES / f"{name}.py"
    module = ModuleType(f"{name}_with_{library}")
    sys.modules[module.__name__] = module  # worker processes look classes up by name
    exec(compile(path.read_text().replace("torch_py", library), str(path), "exec"), vars(module))
    return module


def timed(steps: Iterator[float]) -> float:
    start = time.perf_counter()
    next(steps)
    return time.perf_counter() - start


def compare(name: str, small: bool, rounds: int) -> dict[str, Any]:
    subjects = [load(name, library).training(small) for library in ("torch_py", "torch")]

    for steps in subjects:
        for _ in range(2):
            timed(steps)

    times = [[timed(steps) for steps in subjects] for _ in range(rounds)]
    ours, theirs = zip(*times)
    for steps in subjects:
        steps.close()

    return {
        "torch_py": statistics.median(ours),
        "torch": statistics.median(theirs),
        "ratio": statistics.median(a / b for a, b in times),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark training", description=__doc__)
    parser.add_argument("names", nargs="*", help="examples, all by default")
    parser.add_argument("--rounds", type=int, default=15, help="steps of each library")
    parser.add_argument("--small", action="store_true", help="the examples' small sizes")
    parser.add_argument(
        "--threads", type=int, default=0, help="threads of both libraries; 0: as many as they take"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed here: nothing to compare with (pip install torch)")
        return 0
    sys.path.insert(0, str(EXAMPLES))
    if options.threads:
        for library in ("torch_py", "torch"):
            importlib.import_module(library).set_num_threads(options.threads)

    result = {}
    for name in options.names or examples():
        result[name] = compare(name, options.small, options.rounds)
        print(f"{name}: {result[name]['ratio']:.2f}", file=sys.stderr, flush=True)

    rows = [
        [name, f"{each['torch_py'] * 1e3:.1f}", f"{each['torch'] * 1e3:.1f}", f"{each['ratio']:.2f}"]
        for name, each in result.items()
    ]

    print(format_table(["training step", "torch_py ms", "torch ms", "ratio"], rows))
    missed = [name for name, each in result.items() if each["ratio"] > GOAL]
    print(f"\ngoal: at most {GOAL} for each; {'reached' if not missed else 'MISSED by ' + ', '.join(missed)}")

    write_json(options.json, {"training": result})
    return 0
