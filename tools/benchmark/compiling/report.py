"""Runs each figure of torch.compile in processes of its own, for torch_py and for PyTorch."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..table import format_table, write_json
from .models import MODELS
from .processes import run

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 600.0


@dataclass(frozen=True)
class Figure:
    """One line of the table: `value` of what the child prints, times `scale`, in `unit`."""

    name: str
    child: str  # what the child measures
    value: str  # "cpu": CPU seconds of the whole process tree after the child's mark
    unit: str
    goal: float
    scale: float = 1.0
    is_warm: bool = False  # a second process that finds the caches of the first

    def read(self, found: dict[str, float]) -> float:
        return found[self.value] * self.scale


FIGURES = (
    Figure("first compile of 3 operators", "first", "cpu", "CPU-s", 0.5),
    Figure("12-layer GPT, inference, cold", "inference", "cpu", "CPU-s", 3.0),
    Figure("the same, warm", "inference", "cpu", "CPU-s", 0.5, is_warm=True),
    Figure("12-layer GPT, training, cold", "training", "cpu", "CPU-s", 6.0),
    Figure("the same, warm", "training", "cpu", "CPU-s", 0.5, is_warm=True),
    Figure("call of a no-op, in additions", "guards", "additions", "", 0.5),
    Figure("one more layer", "layer", "layer", "µs", 0.03, 1e6),
    Figure("training call of a small graph, over an addition's", "call", "overhead", "µs", 5.0, 1e6),
    Figure("peak memory of GPT training, to eager's", "memory", "ratio", "", 1.0),
    Figure("import of the compiler", "import", "import", "ms", 80.0, 1e3),
)
STEADY_GOAL = 1.0
EAGER_GOAL = 1.03


class Subject:
    """One library, and the results of its processes by what they measured."""

    def __init__(self, library: str, threads: int, small: bool) -> None:
        self.library = library
        self._options = (str(threads), "small" if small else "large")
        self._found: dict[tuple[str, bool], dict[str, float]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="compile_caches_")

    def measure(self, child: str, is_warm: bool = False) -> dict[str, float] | None:
        """What the child prints; None, with its last words on stderr, if it failed."""
        if (child, is_warm) not in self._found:
            if is_warm:
                self.measure(child)  # fills the caches
            self._found[child, is_warm] = self._run(child)
        return self._found[child, is_warm] or None

    def _run(self, child: str) -> dict[str, float]:
        command = [sys.executable, "-m", "tools.benchmark.compiling.child", self.library, child]
        caches = Path(self._folder.name, child.replace(" ", "_"))
        environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(caches / "xdg"),
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
            "TMPDIR": _made(caches / "tmp"),
        }
        done = run([*command, *self._options], ROOT, environment, TIMEOUT)
        if not done.succeeded:
            words = done.errors.strip().splitlines()[-1:] or ["no message"]
            print(f"{self.library}, {child}: failed: {words[0]}", file=sys.stderr, flush=True)
            return {}

        found: dict[str, float] = json.loads(done.output.strip().splitlines()[-1])
        if "mark" in found:
            found["cpu"] = done.cpu_seconds - found["mark"]
        if "add" in found:
            found["additions"] = found["call"] / found["add"]
        return found


def _made(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def figures_table(subjects: list[Subject], figures: list[Figure]) -> tuple[str, list[dict[str, Any]]]:
    """One row for each figure that any library could be measured on."""
    rows: list[list[str]] = []
    results: list[dict[str, Any]] = []
    for figure in figures:
        result: dict[str, Any] = {"name": figure.name, "unit": figure.unit, "goal": figure.goal}
        for subject in subjects:
            found = subject.measure(figure.child, figure.is_warm)
            result[subject.library] = None if found is None else figure.read(found)
        results.append(result)
        ours = result["torch_py"]
        reached = "failed" if ours is None else "reached" if ours <= figure.goal else "MISSED"
        values = [_text(result[subject.library]) for subject in subjects]
        rows.append([f"{figure.name} {figure.unit}".strip(), *values, f"{figure.goal:g}", reached])

    header = ["figure", *[subject.library for subject in subjects], "goal", ""]
    return format_table(header, rows), results


def models_table(subjects: list[Subject], names: list[str]) -> tuple[str, list[dict[str, Any]]]:
    """Milliseconds of a step, compiled and eager."""
    rows: list[list[str]] = []
    results: list[dict[str, Any]] = []
    for name in names:
        result: dict[str, Any] = {"name": name}
        cells: list[str] = []
        for subject in subjects:
            found = subject.measure(name)
            result[subject.library] = found
            cells += ["-", "-"] if found is None else [_ms(found["compiled"]), _ms(found["eager"])]
        ours, theirs = result["torch_py"], result.get("torch")
        result["to eager"] = ours and ours["compiled"] / ours["eager"]
        result["to torch"] = ours and theirs and ours["compiled"] / theirs["compiled"]
        results.append(result)
        rows.append([name, *cells, _text(result["to eager"]), _text(result["to torch"])])

    header = ["a step, ms"]
    for subject in subjects:
        header += [f"{subject.library} compiled", "eager"]
    table = format_table([*header, "to eager", "to torch"], rows)
    return table + "\n" + _verdict(results), results


def _verdict(results: list[dict[str, Any]]) -> str:
    compared = [result for result in results if result["to torch"] is not None]
    as_fast = sum(result["to torch"] <= STEADY_GOAL for result in compared)
    slower = [result["name"] for result in results if (result["to eager"] or 2) > EAGER_GOAL]
    return (
        f"as fast as torch.compile: {as_fast} of {len(compared)} (goal: all but one of {len(MODELS)}); "
        f"slower than {EAGER_GOAL} eager: {', '.join(slower) or 'none'}"
    )


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}"


def main(arguments: list[str]) -> int:
    names = list(dict.fromkeys(figure.child for figure in FIGURES))
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark compile", description=__doc__)
    parser.add_argument("only", nargs="*", help=f"{', '.join(names)}, models, or a model; all by default")
    parser.add_argument("--threads", type=int, default=1, help="threads of both libraries")
    parser.add_argument("--small", action="store_true", help="small models, to see whether they run")
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    unknown = set(options.only) - {*names, *MODELS, "models"}
    if unknown:
        parser.error(f"unknown figures: {', '.join(sorted(unknown))}")

    has_peer = importlib.util.find_spec("torch") is not None and not options.alone
    libraries = ["torch_py", *(["torch"] if has_peer else [])]
    subjects = [Subject(library, options.threads, options.small) for library in libraries]
    wanted = set(options.only or [*names, "models"])
    result: dict[str, Any] = {}

    figures = [figure for figure in FIGURES if figure.child in wanted]
    if figures:
        table, result["figures"] = figures_table(subjects, figures)
        print(table, flush=True)
    models = [name for name in MODELS if name in wanted or "models" in wanted]
    if models:
        table, result["models"] = models_table(subjects, models)
        print(("\n" if figures else "") + table)

    write_json(options.json, result)
    return 0
