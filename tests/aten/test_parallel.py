"""at::parallel_for: ranges, nesting, exceptions, forked children, races (see parallel_driver.cpp)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver
import pytest


@pytest.mark.parametrize(
    "flags", [["-O1", "-fopenmp"], ["-O1", "-g", "-fsanitize=thread"]], ids=["plain", "races"]
)
def test_parallel_for(tmp_path: Path, flags: list[str]) -> None:
    sources = [
        "tests/aten/parallel_driver.cpp",
        "aten/parallel/LibraryThreads.cpp",
        "aten/parallel/Parallel.cpp",
        "aten/parallel/ThreadPool.cpp",
        "aten/core/Warning.cpp",
        "c10/util/Exception.cpp",
    ]
    program = cpp_driver.build(tmp_path / "parallel", sources, *flags)
    assert cpp_driver.run(program) == "ok\n"
