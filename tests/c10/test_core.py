"""The Mersenne Twister and the choice of the instruction set (see core_driver.cpp)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = ["tests/c10/core_driver.cpp", "c10/cpu/CpuInfo.cpp", "c10/util/Exception.cpp"]
    return cpp_driver.build(tmp_path_factory.mktemp("core") / "core", sources, "-O1")


def test_mersenne_twister_is_the_standard_one(program: Path) -> None:
    assert cpp_driver.run(program, "mt19937") == "ok\n"


def test_capability_can_be_lowered_but_not_raised(program: Path) -> None:
    levels = ["DEFAULT", "AVX2", "AVX512"]
    detected, chosen = cpp_driver.run(program, "capability", TORCH_PY_CPU_CAPABILITY="").split()
    assert chosen == detected
    for level in levels:
        chosen = cpp_driver.run(program, "capability", TORCH_PY_CPU_CAPABILITY=level.lower()).split()[1]
        assert levels.index(chosen) == min(levels.index(level), levels.index(detected))


def test_unknown_capability_is_refused(program: Path) -> None:
    with pytest.raises(AssertionError, match="expected default, avx2 or avx512, got 'sse9'"):
        cpp_driver.run(program, "capability", TORCH_PY_CPU_CAPABILITY="sse9")
    assert subprocess.run([program, "mt19937"]).returncode == 0
