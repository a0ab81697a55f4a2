"""Operators along dimensions of a few elements, for every instruction set and some numbers of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
_PROGRAM = Path(__file__).with_name("short_lanes.py")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("level", ["default", "avx2", "avx512"])
def test_short_lanes(level: str, threads: int) -> None:
    settings = {"TORCH_PY_CPU_CAPABILITY": level, "TORCH_PY_NUM_THREADS": str(threads)}
    result = subprocess.run(
        [sys.executable, _PROGRAM, str(10_000 * threads), "100"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.stdout == "ok\n", result.stdout + result.stderr
