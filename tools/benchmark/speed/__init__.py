"""About 200 typical calls next to PyTorch, other libraries and the machine's limits, in one run."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from ..table import write_json
from . import limits, measuring, peers, report
from .case import Group
from .cases import GROUPS
from .measuring import Result

# What a run of the check may exceed a group's goal for the worst case by: the machine may be busy.
SLACK = 1.5


def chosen(options: argparse.Namespace) -> list[Group]:
    """The groups with the cases that match; a quick run takes every fourth."""
    groups = []
    for group in GROUPS:
        cases = [case for case in group.cases if re.search(options.only, f"{group.name}/{case.name}")]
        if options.check:
            cases = cases[::4]
        if cases:
            groups.append(dataclasses.replace(group, cases=tuple(cases)))
    return groups


def measure_group(group: Group, libraries: list[Any], options: argparse.Namespace) -> dict[str, Result]:
    results = {}
    for case in group.cases:
        name = f"{group.name}/{case.name}"
        results[case.name] = measuring.measure(name, libraries, options.rounds, options.seconds)
        if options.progress:
            print(f"{name}: {results[case.name].ratio}", file=sys.stderr, flush=True)
    return results


def too_slow(group: Group, results: dict[str, Result]) -> list[str]:
    """The cases that miss the goal by more than the slack."""
    return [
        f"{group.name}/{name}: {result.ratio:.2f}, at most {group.worst_goal * SLACK:.2f}"
        for name, result in results.items()
        if result.ratio is not None and result.ratio > group.worst_goal * SLACK
    ]


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tools.benchmark speed", description=__doc__)

    # What to measure.
    found.add_argument("--only", default="", help="regular expression that `group/case` must match")
    found.add_argument(
        "--threads", type=int, default=1, help="threads of every library, each on a core of its own"
    )
    found.add_argument("--rounds", type=int, default=7, help="measurements of each case and library")
    found.add_argument("--seconds", type=float, default=0.03, help="length of one measurement")
    found.add_argument("--no-others", action="store_true", help="leave out NumPy, JAX and ONNX Runtime")
    found.add_argument(
        "--check", action="store_true", help="every fourth case; fails where one is far too slow"
    )

    # What to show and keep.
    found.add_argument("--progress", action="store_true", help="print every ratio as soon as it is known")
    found.add_argument("--plot", type=Path, help="draw the ratios of each group into this file")
    found.add_argument("--json", type=Path, help="also write the figures to this file")
    return found


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    has_torch = importlib.util.find_spec("torch") is not None
    others = [] if options.no_others else peers.installed()
    libraries = measuring.start(["torch_py", *(["torch"] if has_torch else []), *others], options.threads)

    found = limits.measured()
    print(limits.describe(found) + "\n")
    measured = []
    slow: list[str] = []
    for group in chosen(options):
        results = measure_group(group, libraries, options)
        measured.append((group, results))
        slow += too_slow(group, results)
        print(report.describe(group, results, found, options.threads), flush=True)
    for library in libraries:
        library.close()
    print(report.summary(measured))

    if options.plot:
        report.plot(measured, options.plot)
    figures = {
        group.name: [dataclasses.asdict(each) for each in results.values()] for group, results in measured
    }
    write_json(options.json, {"limits": dataclasses.asdict(found), "groups": figures})

    if options.check and slow:
        print("too slow:\n" + "\n".join(slow))
    return 1 if options.check and slow else 0
