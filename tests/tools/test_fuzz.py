"""A few seconds of hostile calls; `python -m tools.fuzz --seconds 600 --seed N` looks further."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_short_run() -> None:
    command = [sys.executable, "-m", "tools.fuzz", "--seconds", "4", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "calls with seed 7: 0 problems" in done.stdout


def test_one_call_again() -> None:
    command = [sys.executable, "-m", "tools.fuzz", "--seed", "7", "--only", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "1 calls with seed 7: 0 problems\n", done.stdout + done.stderr
