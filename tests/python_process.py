"""Runs Python in a process of its own, with this checkout's package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def run_python(*arguments: str, folder: Path = REPOSITORY, **variables: str) -> str:
    """Runs Python with these arguments and environment variables; returns what it prints.

    Fails the test if its exit status is not 0.
    """
    environment = {
        **os.environ,
        **variables,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")])),
    }

    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )

    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-3000:]
    return result.stdout
