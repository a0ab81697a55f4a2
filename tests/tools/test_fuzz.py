"""A few seconds of hostile calls; `python -m tools.fuzz --seconds 600 --seed N` looks further."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


def test_operators_agree_with_pytorch(tmp_path: Path) -> None:
    """As below, for operators."""
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "tools.fuzz.peer", str(tmp_path / "log"), "11", "0", "1000", "1200"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "made 1200 calls\n", done.stdout + done.stderr


def test_layers_agree_with_pytorch(tmp_path: Path) -> None:
    """The same calls every time: what differs is new, a difference that is meant belongs into tools/fuzz/known_differences.py."""
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "tools.fuzz.layers", str(tmp_path / "log"), "11", "0", "1000", "400"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "made 400 calls\n", done.stdout + done.stderr


def test_layers_have_calls_that_work() -> None:
    pytest.importorskip("torch")
    from tools.fuzz.layer_targets import targets, working

    known = targets()
    assert len(known) > 280
    assert [str(target) for target in known if working(target) is None] == []
