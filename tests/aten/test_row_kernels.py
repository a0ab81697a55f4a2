"""Kernels of rows and columns, for every instruction set and some numbers of threads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = Path(__file__).with_name("row_kernels.py")


def _run(level: str, threads: int) -> str:
    settings = {"TORCH_PY_CPU_CAPABILITY": level, "TORCH_PY_NUM_THREADS": str(threads)}
    result = subprocess.run(
        [sys.executable, _PROGRAM, "5"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return result.stdout + result.stderr


@pytest.mark.parametrize("level", ["default", "avx2", "avx512"])
def test_results_are_numpys_and_independent_of_threads(level: str) -> None:
    alone = _run(level, 1)
    assert re.fullmatch("[0-9a-f]{64}\n", alone), alone
    assert _run(level, 3) == alone
