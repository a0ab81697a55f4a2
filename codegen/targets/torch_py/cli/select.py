"""``select``: runs a program and lists the operators that it calls, for a build with those alone."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

_RECORDER = "torch_py.utils.record_operators"


def select(options: argparse.Namespace) -> int:
    problem = _problem(options)
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1

    command = [sys.executable, "-m", _RECORDER, "--to", str(options.to), *options.from_run]
    return subprocess.run(command).returncode


def _problem(options: argparse.Namespace) -> str | None:
    """What would stop the program before its first line, or the list from being written after its last."""
    script = Path(options.from_run[0]) if options.from_run else None
    if script is None:
        return "--from-run: write the script, and its arguments"
    if not script.is_file():
        return f"{script}: there is no such script"
    if options.to.is_dir() or not options.to.resolve().parent.is_dir():
        return f"{options.to}: not a file that can be written; name one in a folder that exists: --to LIST"
    return None
