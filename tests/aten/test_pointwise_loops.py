"""Pointwise loops over operands of every form and length, for every instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")

_PROGRAM = Path(__file__).with_name("pointwise_loops.py")


@pytest.mark.parametrize("level", ["default", "avx2", "avx512"])
def test_forms_of_operands(level: str) -> None:
    result = subprocess.run(
        [sys.executable, _PROGRAM],
        env={**os.environ, "TORCH_PY_CPU_CAPABILITY": level},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.stdout == "ok\n", result.stdout + result.stderr
