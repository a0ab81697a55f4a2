"""Times every operator on large float32 tensors, next to PyTorch; slowest first.

The calls come from the entries: the first samples of an operator, whose tensors are made larger until the
call takes long enough, with new values between the sample's smallest and largest. What does not work with
larger tensors is listed with --skipped.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import math
import re
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .table import format_table, write_json

# Elements of the largest tensor of a call, step by step, until a call takes so many seconds; results stay
# below so many elements.
STEPS = (10_000, 100_000, 1_000_000)
LONG_ENOUGH = 0.02
LARGEST_RESULT = 8_000_000
# Calls that are shorter at their largest say more about the cost of calls, which `calls` measures.
SHORTEST = 20e-6
# Operators with this tag make memory that nobody reads.
NOT_TIMED = "uninitialised"

Call = Callable[[], Any]


@dataclass
class Case:
    name: str
    description: str
    calls: tuple[Call, Call]
    uses: int = 0
    seconds: list[float] = field(default_factory=list)
    ratio: float = math.nan


# Samples made large


def enlarged(array: Any, factor: float, random: np.random.Generator) -> Any:
    """Every dimension that is not 1 times `factor`; other values from the same range."""
    shape = tuple(size if size == 1 else round(size * factor) for size in array.shape)
    if array.size == 0 or array.ndim == 0:
        return array
    if array.dtype == bool:
        return random.random(shape) < 0.5
    if array.dtype.kind in "iu":
        return random.integers(array.min(), array.max() + 1, shape).astype(array.dtype)
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"no larger tensor of {array.dtype} is made")
    return random.uniform(array.min(), array.max(), shape).astype(array.dtype)


def enlarged_sample(sample: Any, library: Any, elements: int, seed: int) -> Any:
    """The call with tensors of up to about `elements` elements."""
    largest = max((tensor for tensor in sample.tensors()), key=lambda tensor: tensor.numel())
    growing = sum(size > 1 for size in largest.shape)
    if growing == 0 or largest.numel() == 0:
        raise ValueError("the sample has nothing to enlarge")
    factor = max(1.0, (elements / largest.numel()) ** (1 / growing))
    random = np.random.default_rng(seed)
    return sample.map(
        lambda tensor: library.from_numpy(np.ascontiguousarray(enlarged(tensor.numpy(), factor, random)))
    )


def result_elements(result: Any) -> int:
    tensors = result if isinstance(result, (list, tuple)) else [result]
    return sum(tensor.numel() for tensor in tensors if hasattr(tensor, "numel"))


def elapsed(call: Call) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def largest_call(operator: Any, libraries: list[Any], samples: list[Any]) -> tuple[str, tuple[Call, Call]]:
    """The largest call that stays within the limits; raises what the first step raises."""
    from tests.ops.calling import call

    best: tuple[str, tuple[Call, Call]] | None = None
    for elements in STEPS:
        try:
            large = [
                enlarged_sample(sample, library, elements, 0) for sample, library in zip(samples, libraries)
            ]
            calls = tuple(
                (lambda library=library, sample=sample: call(operator, library, sample))
                for library, sample in zip(libraries, large)
            )
            timed = [elapsed(one) for one in calls]
        except Exception:
            if best is None:
                raise
            return best
        best = (str(large[0]), (calls[0], calls[1]))
        growth = STEPS[-1] / elements
        if timed[1][0] * 10 > LONG_ENOUGH * 10 or max(
            result_elements(result) for _, result in timed
        ) * 100 > LARGEST_RESULT * min(growth, 100):
            return best
    assert best is not None
    return best


def base_name(name: str) -> str:
    """Without the overload."""
    return name.split(".")[0].lower()


def enrolled_cases(
    libraries: list[Any], options: argparse.Namespace, uses: Counter[str], skipped: Counter[str]
) -> Iterator[Case]:
    """A few cases of every operator that has samples."""
    from tests.ops.operators import all_operators

    for operator in sorted(all_operators(), key=lambda operator: -uses[base_name(str(operator))]):
        if NOT_TIMED in operator.row["tags"] or not re.search(options.only, str(operator)):
            continue
        found = 0
        for pair in zip(*(operator.samples(library, "float32") for library in libraries)):
            if found == options.samples:
                break
            try:
                description, calls = largest_call(operator, libraries, list(pair))
            except Exception as error:  # whatever either library has against it
                skipped[
                    f"{operator}: {type(error).__name__}: "
                    f"{str(error).splitlines()[0][:120] if str(error) else ''}"
                ] += 1
                continue
            found += 1
            yield Case(str(operator), description, calls)


# Timing


def measure(case: Case, rounds: int, seconds: float) -> None:
    """Fills in the medians of both and of their ratios, round by round."""
    counts = []
    for call in case.calls:
        call()
        counts.append(max(1, int(seconds / max(1e-7, min(elapsed(call)[0] for _ in range(2))))))

    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for call, count, column in zip(case.calls, counts, times):
            start = time.perf_counter()
            for _ in range(count):
                call()
            column.append((time.perf_counter() - start) / count)

    case.seconds = [statistics.median(column) for column in times]
    case.ratio = statistics.median(ours / theirs for ours, theirs in zip(*times))


def uses_of(path: Path | None) -> Counter[str]:
    """How often programs use each name, in whichever module or class it is.

    Read from a table with the columns api and number_of_uses.
    """
    uses: Counter[str] = Counter()
    if path is not None:
        with path.open() as file:
            for row in csv.DictReader(file):
                uses[row["api"].rsplit(".", 1)[-1].lower()] += int(row["number_of_uses"])
    return uses


def compare(libraries: list[Any], options: argparse.Namespace, skipped: Counter[str]) -> list[Case]:
    """The cases, slowest first. Measures the most used operators first, in case time runs out."""
    uses = uses_of(options.usage)
    cases = []
    end = time.monotonic() + 60 * options.minutes

    for case in enrolled_cases(libraries, options, uses, skipped):
        if time.monotonic() > end:
            skipped[f"{case.name} and what comes after it: {options.minutes} minutes are over"] += 1
            break

        case.uses = uses[base_name(case.name)]
        try:
            measure(case, options.rounds, options.seconds)
        except Exception as error:  # of a call that writes to its own arguments
            skipped[f"{case.name}: {type(error).__name__}: {error}"] += 1
            continue
        case.calls = ()  # type: ignore[assignment]  # the tensors go
        if max(case.seconds) >= SHORTEST:
            cases.append(case)
            if options.progress:
                print(f"{case.ratio:.2f} {case.name} {case.description}", file=sys.stderr, flush=True)

    return sorted(cases, key=lambda case: -case.ratio)


def describe(cases: list[Case], worst: int) -> str:
    rows = [
        [
            case.name,
            f"{case.seconds[0] * 1e3:.3f}",
            f"{case.seconds[1] * 1e3:.3f}",
            f"{case.ratio:.2f}",
            str(case.uses),
            case.description[:90],
        ]
        for case in cases[:worst]
    ]

    mean = math.exp(statistics.fmean(math.log(case.ratio) for case in cases)) if cases else math.nan
    slower = sum(case.ratio > 1.25 for case in cases)
    return (
        format_table(["operator", "torch_py ms", "torch ms", "ratio", "uses", "call"], rows)
        + f"\n\n{len(cases)} calls, geometric mean of ratios {mean:.3f}, {slower} with more than 1.25"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark operators", description=__doc__)
    parser.add_argument("--only", default="", help="regular expression that the operator's name must match")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1], help="numbers of threads to measure with"
    )
    parser.add_argument("--samples", type=int, default=1, help="calls of each operator")
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each call and library")
    parser.add_argument("--seconds", type=float, default=0.01, help="length of one measurement")
    parser.add_argument("--minutes", type=float, default=60.0, help="most time for each number of threads")
    parser.add_argument("--progress", action="store_true", help="print every ratio as soon as it is known")
    parser.add_argument("--worst", type=int, default=60, help="so many lines")
    parser.add_argument("--skipped", action="store_true", help="list what could not be enlarged")
    parser.add_argument(
        "--usage",
        type=Path,
        help="CSV with the columns api and number_of_uses: a column of its own in the table",
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    warnings.simplefilter("ignore")  # what PyTorch calls deprecated
    libraries = [importlib.import_module(name) for name in ("torch_py", "torch")]
    figures: dict[str, Any] = {"peer": libraries[1].__version__}

    for threads in options.threads:
        for library in libraries:
            library.set_num_threads(threads)
        skipped: Counter[str] = Counter()
        cases = compare(libraries, options, skipped)
        print(f"{threads} thread{'s' * (threads > 1)}\n\n{describe(cases, options.worst)}\n")
        if options.skipped:
            print("\n".join(sorted(skipped)))
        figures[f"{threads} threads"] = [
            {"name": case.name, "call": case.description, "seconds": case.seconds, "ratio": case.ratio}
            for case in cases
        ]

    write_json(options.json, figures)
    return 0
