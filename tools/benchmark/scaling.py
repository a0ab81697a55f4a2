"""How the time of add, sum, matmul, fft, attention and a long graph grows with size, next to PyTorch."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .table import format_table, write_json

Call = Callable[[], Any]
# The shortest of so many measurements counts; calls that take longer than a second are made once.
MEASUREMENTS = 7
SHORT = 0.01


def add(torch: Any, count: int) -> Call:
    left, right = torch.ones(count), torch.ones(count)
    return lambda: torch.add(left, right)


def total(torch: Any, count: int) -> Call:
    values = torch.ones(count)
    return lambda: torch.sum(values)


def fft(torch: Any, count: int) -> Call:
    values = torch.ones(count, dtype=torch.complex64)
    return lambda: torch.fft.fft(values)


def matmul(torch: Any, size: int) -> Call:
    left, right = torch.ones(size, size), torch.ones(size, size)
    return lambda: torch.mm(left, right)


def attention(torch: Any, length: int) -> Call:
    heads = torch.ones(1, 8, length, 64)
    return lambda: torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)


def graph(torch: Any, nodes: int) -> Call:
    """Builds a chain of so many nodes, goes through it backwards and frees it."""

    def step() -> None:
        start = torch.ones(1, requires_grad=True)
        end = start
        for _ in range(nodes):
            end = end + 1
        end.backward()

    return step


CURVES: dict[str, tuple[Callable[[Any, int], Call], tuple[int, ...]]] = {
    "add, elements": (add, tuple(10**power for power in range(9))),
    "sum, elements": (total, tuple(10**power for power in range(9))),
    "matmul, side": (matmul, (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)),
    "fft, elements": (fft, tuple(2**power for power in range(4, 23, 2))),
    "attention, length": (attention, (64, 128, 256, 512, 1024, 2048, 4096, 8192)),
    "graph, nodes": (graph, (10, 100, 1000, 10_000, 100_000, 1_000_000)),
}


def shortest(call: Call) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    if first > 1:
        return first

    count = max(1, int(SHORT / max(first, 1e-7)))
    times = []
    for _ in range(MEASUREMENTS):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return min(times)


def points(name: str, libraries: list[Any], largest: int) -> Iterator[tuple[int, list[float]]]:
    """For each size, the seconds of each library."""
    make, sizes = CURVES[name]
    for size in sizes:
        if size <= largest:
            yield size, [shortest(make(library, size)) for library in libraries]


def plot(curves: dict[str, list[tuple[int, list[float]]]], names: list[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(curves), figsize=(4 * len(curves), 3.2), layout="constrained")
    for axis, (curve, found) in zip(axes, curves.items()):
        sizes = [size for size, _ in found]
        for index, name in enumerate(names):
            axis.loglog(sizes, [seconds[index] for _, seconds in found], marker=".", label=name)
        axis.set_xlabel(curve)
        axis.set_ylabel("seconds")
        axis.legend()

    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark scaling", description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads of both libraries")
    parser.add_argument("--largest", type=int, default=10**9, help="leave larger sizes out")
    parser.add_argument("--plot", type=Path, help="draw the curves into this file")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    names = [name for name in ("torch_py", "torch") if importlib.util.find_spec(name) is not None]
    libraries = [importlib.import_module(name) for name in names]
    for library in libraries:
        library.set_num_threads(options.threads)

    curves = {}
    for curve in CURVES:
        print(curve, file=sys.stderr, flush=True)
        curves[curve] = list(points(curve, libraries, options.largest))
        rows = [[str(size), *(f"{each * 1e6:.2f}" for each in seconds)] for size, seconds in curves[curve]]
        print(format_table([curve, *(f"{name} µs" for name in names)], rows) + "\n", flush=True)

    if options.plot:
        plot(curves, names, options.plot)
    write_json(options.json, {"curves": curves})
    return 0
