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
from . import check, limits, measuring, peers, report
from .case import Group
from .cases import GROUPS
from .measuring import Result

# A check takes all cases in two minutes.
CHECK_ROUNDS = 3
CHECK_SECONDS = 0.01


def chosen(options: argparse.Namespace) -> list[Group]:
    """The groups with the cases that match."""
    groups = []
    for group in GROUPS:
        cases = [case for case in group.cases if re.search(options.only, f"{group.name}/{case.name}")]
        if cases:
            groups.append(dataclasses.replace(group, cases=tuple(cases)))
    return groups


def measure_case(name: str, libraries: list[Any], options: argparse.Namespace) -> Result:
    slowed = options.slowed is not None and re.search(options.slowed, name) is not None
    return measuring.measure(name, libraries, options.rounds, options.seconds, slowed)


def measure_group(group: Group, libraries: list[Any], options: argparse.Namespace) -> dict[str, Result]:
    results = {}
    for case in group.cases:
        name = f"{group.name}/{case.name}"
        results[case.name] = measure_case(name, libraries, options)
        if options.progress:
            print(f"{name}: {results[case.name].ratio}", file=sys.stderr, flush=True)
    return results


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tools.benchmark speed", description=__doc__)

    # What to measure.
    found.add_argument("--only", default="", help="regular expression that `group/case` must match")
    found.add_argument(
        "--threads", type=int, default=1, help="threads of every library, each on a core of its own"
    )
    found.add_argument("--rounds", type=int, help="measurements of each case and library; default: 7")
    found.add_argument("--seconds", type=float, help="length of one measurement; default: 0.03")
    found.add_argument("--no-others", action="store_true", help="leave out NumPy, JAX and ONNX Runtime")
    found.add_argument(
        "--check",
        action="store_true",
        help="two minutes, next to PyTorch only; fails where a case or a group is far from its goals",
    )
    found.add_argument(
        "--slowed", metavar="ONLY", help="call torch_py three times in these cases, which a check must notice"
    )

    # What to show and keep.
    found.add_argument("--progress", action="store_true", help="print every ratio as soon as it is known")
    found.add_argument("--plot", type=Path, help="draw the ratios of each group into this file")
    found.add_argument("--json", type=Path, help="also write the figures to this file")
    return found


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    options.rounds = options.rounds or (CHECK_ROUNDS if options.check else 7)
    options.seconds = options.seconds or (CHECK_SECONDS if options.check else 0.03)
    has_torch = importlib.util.find_spec("torch") is not None
    others = [] if options.no_others or options.check else peers.installed()
    libraries = measuring.start(["torch_py", *(["torch"] if has_torch else []), *others], options.threads)

    found = limits.measured()
    print(limits.describe(found) + "\n")
    measured = []
    for group in chosen(options):
        results = measure_group(group, libraries, options)
        measured.append((group, results))
        print(report.describe(group, results, found, options.threads), flush=True)
    if options.check:
        check.retry(measured, lambda name: measure_case(name, libraries, options))
    for library in libraries:
        library.close()
    print(report.summary(measured))

    if options.plot:
        report.plot(measured, options.plot)
    figures = {
        group.name: [dataclasses.asdict(each) for each in results.values()] for group, results in measured
    }
    write_json(options.json, {"limits": dataclasses.asdict(found), "groups": figures})

    slow = check.problems(measured) if options.check else []
    if slow:
        print("too slow, as ratios to PyTorch:\n" + "\n".join(slow))
    return 1 if slow else 0
