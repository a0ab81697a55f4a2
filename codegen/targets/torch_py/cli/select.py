"""``select``: runs a program and lists the operators that it calls, for a build with those alone."""

from __future__ import annotations

import argparse
import subprocess
import sys

_RECORDER = "torch_py.utils.record_operators"


def select(options: argparse.Namespace) -> int:
    command = [sys.executable, "-m", _RECORDER, "--to", str(options.to), *options.from_run]
    return subprocess.run(command).returncode
