"""Matrix products of many shapes and dtypes, next to PyTorch and to what the processor can do at most."""

from __future__ import annotations

import argparse
import importlib
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .limits import Peaks
from .table import format_table, write_json

SQUARES = (8, 16, 32, 64, 96, 128, 256, 512, 1024)
# m, k, n: skinny, of small depth, and as convolutions and transformers have them.
OTHERS = (
    (1, 1024, 1024),
    (4, 1024, 1024),
    (16, 1024, 1024),
    (1024, 1024, 1),
    (1024, 1, 1024),
    (1024, 8, 1024),
    (12544, 576, 64),
    (64, 12544, 576),
    (1024, 384, 384),
    (1024, 384, 1536),
    (257, 257, 257),
)
DTYPES = ("float32", "float64", "complex64", "bfloat16", "float16")
# Whose peak counts where a dtype has no instructions of its own.
PEAK_OF = {"complex64": "float32", "float16": "float32"}


@dataclass(frozen=True)
class Case:
    dtype: str
    m: int
    k: int
    n: int
    layout: str = "NN"  # T: the operand is the transpose of a contiguous matrix
    batch: int = 0

    @property
    def name(self) -> str:
        shape = f"{self.m} x {self.k} x {self.n}"
        return f"{self.dtype} {f'{self.batch} of ' if self.batch else ''}{shape} {self.layout}"

    @property
    def operations(self) -> float:
        return (
            (8.0 if self.dtype.startswith("complex") else 2.0) * self.m * self.k * self.n * max(1, self.batch)
        )

    def call(self, library: Any) -> Callable[[], Any]:
        batch = (self.batch,) if self.batch else ()
        a = self.operand(library, self.layout[0], (*batch, self.m, self.k))
        b = self.operand(library, self.layout[1], (*batch, self.k, self.n))
        return lambda: library.matmul(a, b)

    def operand(self, library: Any, layout: str, shape: tuple[int, ...]) -> Any:
        dtype = getattr(library, self.dtype)
        if layout == "N":
            return library.randn(*shape).to(dtype)
        return library.randn(*shape[:-2], shape[-1], shape[-2]).to(dtype).transpose(-2, -1)


def cases(dtypes: list[str]) -> list[Case]:
    found = []
    for dtype in dtypes:
        found += [Case(dtype, size, size, size) for size in SQUARES]
        found += [Case(dtype, *shape) for shape in OTHERS]
        found += [Case(dtype, 256, 256, 256, layout) for layout in ("NT", "TN", "TT")]
        found += [Case(dtype, 1, 1024, 1024, "NT"), Case(dtype, 64, 64, 64, batch=64)]
    return found


def shortest(calls: list[Callable[[], Any]], seconds: float) -> list[float]:
    """The shortest time of each call; they take turns, so that a disturbance meets both."""
    counts = []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        counts.append(max(1, int(0.001 / max(1e-7, time.perf_counter() - start))))

    best = [math.inf] * len(calls)
    end = time.monotonic() + seconds
    rounds = 0
    while rounds < 5 or time.monotonic() < end:
        for index, (call, count) in enumerate(zip(calls, counts)):
            start = time.perf_counter()
            for _ in range(count):
                call()
            best[index] = min(best[index], (time.perf_counter() - start) / count)
        rounds += 1
    return best


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark products", description=__doc__)
    parser.add_argument("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES)
    parser.add_argument("--only", default="", help="part of the names of cases")
    parser.add_argument("--seconds", type=float, default=0.2, help="length of one case")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    libraries = [importlib.import_module(name) for name in ("torch_py", "torch")]
    for library in libraries:
        library.set_num_threads(options.threads)

    peaks = Peaks()
    figures: list[dict[str, Any]] = []
    for case in cases(options.dtypes):
        if options.only not in case.name:
            continue
        seconds = shortest([case.call(library) for library in libraries], options.seconds)
        peak = peaks.measure(PEAK_OF.get(case.dtype, case.dtype))
        rates = [case.operations / one for one in seconds]
        figures.append(
            {
                "name": case.name,
                "rates": rates,
                "ratio": seconds[0] / seconds[1],
                "share": rates[0] / (peak * options.threads) if peak else None,
            }
        )

    print(describe(figures))
    write_json(options.json, {"threads": options.threads, "products": figures})
    return 0


def describe(figures: list[dict[str, Any]]) -> str:
    rows = [
        [
            figure["name"],
            *(f"{rate / 1e9:.1f}" for rate in figure["rates"]),
            f"{figure['ratio']:.2f}",
            f"{figure['share']:.0%}" if figure["share"] else "",
        ]
        for figure in figures
    ]
    table = format_table(["product", "torch_py Gop/s", "torch Gop/s", "time ratio", "of the peak"], rows)
    if not figures:
        return table
    mean = statistics.geometric_mean(figure["ratio"] for figure in figures)
    worst = max(figure["ratio"] for figure in figures)
    return f"{table}\n\n{len(figures)} products, geometric mean of ratios {mean:.2f}, worst {worst:.2f}"
