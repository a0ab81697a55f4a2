"""Times a step of each optimizer, on the parameters of ResNet-18 and on 100 tiny ones, next to PyTorch."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .table import format_table, write_json

OPTIONS: dict[str, dict[str, Any]] = {
    "SGD": {},
    "SGD momentum": {"momentum": 0.9},
    "Adam": {},
    "AdamW": {},
    "Adagrad": {},
    "Adadelta": {},
    "Adafactor": {},
    "Adamax": {},
    "ASGD": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {},
    "Rprop": {},
}
FUSED = ("SGD", "SGD momentum", "Adam", "AdamW", "Adagrad")
Shapes = list[tuple[int, ...]]


def resnet18() -> Shapes:
    """The shapes of the 62 parameters of ResNet-18, which have 11.7 million elements."""
    shapes: Shapes = [(64, 3, 7, 7), (64,), (64,)]
    previous_width = 64
    for width in (64, 128, 256, 512):
        for block in range(2):
            incoming = previous_width if block == 0 else width
            shapes += [(width, incoming, 3, 3), (width,), (width,), (width, width, 3, 3), (width,), (width,)]
            if incoming != width:
                shapes += [(width, incoming, 1, 1), (width,), (width,)]
        previous_width = width
    return [*shapes, (1000, 512), (1000,)]


def tiny_matrices() -> Shapes:
    return [(4, 4)] * 100


PARAMETERS: dict[str, Callable[[], Shapes]] = {"ResNet-18": resnet18, "100 of 4x4": tiny_matrices}


class Subject:
    """An optimizer of one library, and parameters with gradients for it to update."""

    def __init__(self, library: Any, case: str, shapes: Shapes, **options: Any) -> None:
        library.manual_seed(0)
        parameters = [library.randn(shape).requires_grad_() for shape in shapes]
        for parameter in parameters:
            parameter.grad = library.randn(parameter.shape)

        optimizer_class = getattr(library.optim, case.split()[0])
        self.step = optimizer_class(parameters, lr=1e-4, **OPTIONS[case], **options).step
        self.step()

    def seconds(self, count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            self.step()
        return (time.perf_counter() - begin) / count


def measure(subjects: list[Subject], rounds: int, seconds: float) -> list[list[float]]:
    """The seconds of one step: for each subject, one figure per round.

    The subjects take turns within a round.
    """
    counts = [max(1, int(seconds / subject.seconds(2))) for subject in subjects]
    times: list[list[float]] = [[] for _ in subjects]
    for _ in range(rounds):
        for subject, count, column in zip(subjects, counts, times):
            column.append(subject.seconds(count))
    return times


def compare(cases: list[str], rounds: int, seconds: float, threads: int) -> dict[str, Any]:
    ours = importlib.import_module("torch_py")
    peer = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    for library in (ours, peer):
        if library is not None:
            library.set_num_threads(threads)

    result: dict[str, Any] = {"peer": getattr(peer, "__version__", None), "threads": threads, "cases": {}}
    for list_name, shapes in PARAMETERS.items():
        for case in cases:
            subjects = {"torch_py": Subject(ours, case, shapes())}
            if peer is not None:
                subjects["torch"] = Subject(peer, case, shapes())
                if case in FUSED:
                    subjects["torch fused"] = Subject(peer, case, shapes(), fused=True)

            times = dict(zip(subjects, measure(list(subjects.values()), rounds, seconds)))
            entry = {name: statistics.median(column) for name, column in times.items()}
            for name in list(times)[1:]:
                entry[f"ratio to {name}"] = statistics.median(
                    a / b for a, b in zip(times["torch_py"], times[name])
                )
            result["cases"][f"{case}, {list_name}"] = entry

    return result


def describe(result: dict[str, Any]) -> str:
    libraries = ["torch_py", "torch", "torch fused"]
    ratios = ["ratio to torch", "ratio to torch fused"]

    rows = []
    for name, entry in result["cases"].items():
        times = [f"{entry[library] * 1e3:.3f}" if library in entry else "" for library in libraries]
        quotients = [f"{entry[ratio]:.2f}" if ratio in entry else "" for ratio in ratios]
        rows.append([name, *times, *quotients])

    return format_table(["step", *(f"{library} ms" for library in libraries), *ratios], rows)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark optimizers", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(OPTIONS), help="these optimizers; default: all")
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each optimizer and library")
    parser.add_argument("--seconds", type=float, default=0.05, help="length of one measurement")
    parser.add_argument("--threads", type=int, default=1, help="threads of each library")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    result = compare(options.only or list(OPTIONS), options.rounds, options.seconds, options.threads)
    print(describe(result))
    write_json(options.json, result)
    return 0
