"""at::parallel_for: ranges, nesting, exceptions, forked children (see parallel_driver.cpp)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver


def test_parallel_for(tmp_path: Path) -> None:
    sources = [
        "tests/aten/parallel_driver.cpp",
        "aten/parallel/LibraryThreads.cpp",
        "aten/parallel/Parallel.cpp",
        "aten/parallel/ThreadPool.cpp",
        "aten/core/Warning.cpp",
        "c10/util/Exception.cpp",
    ]
    program = cpp_driver.build(tmp_path / "parallel", sources, "-O1", "-fopenmp")
    assert cpp_driver.run(program) == "ok\n"
