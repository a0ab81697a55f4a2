"""Runs a program and writes the names of the operators that it calls, one a line.

    python -m torch_py.utils.record_operators --to operators.txt train.py --epochs 1

The profiler sees every call of the dispatcher: those of backward, and those that operators make themselves. A
call is known by its name without the overload, so a name stands for all overloads.
"""

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

from torch_py import profiler

_PREFIX = "aten::"


def record_operators(script: str, arguments: list[str]) -> list[str]:
    """The operators that the program calls, sorted. The program sees itself as ``__main__``."""
    before = sys.argv
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    try:
        with profiler.profile() as profile, contextlib.suppress(SystemExit):
            runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv = before
        sys.path.pop(0)
    return operators_of(event.name for event in profile.events())


def operators_of(names: Iterable[str]) -> list[str]:
    return sorted({name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m torch_py.utils.record_operators")
    parser.add_argument("--to", type=Path, default=Path("operators.txt"), metavar="LIST")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    names = record_operators(options.script, options.arguments)
    options.to.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{options.to}: {len(names)} operators")


if __name__ == "__main__":
    main()
