"""The engines of CUDA kernels, executed by the emulation: against plain loops, in every order of threads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

SOURCES = (
    "tests/emulation/checks/engines_driver.cpp",
    "tests/emulation/checks/without_runtime.cpp",
    *(f"tests/emulation/{name}.cpp" for name in ("block_run", "fences", "fiber", "grid", "meetings")),
    "tests/emulation/memory_operations.cpp",
    "tests/emulation/shared_memory.cpp",
    "tests/emulation/watching.cpp",
    "c10/cuda/Launch.cpp",
    *(f"c10/dispatch/{name}.cpp" for name in ("DispatchKey", "OperatorEntry", "RunningOperator", "Schema")),
    "c10/util/Exception.cpp",
)
FLAGS = ("-O1", "-g1", "-DTORCH_PY_CUDA_EMULATION", "-Itests/emulation/include", "-Ibuild/generated")
ORDERS = ("ascending", "descending", "shuffled:1", "shuffled:2")


@pytest.mark.parametrize("sanitizer", ["", "address"])
def test_engines_in_every_order(tmp_path: Path, sanitizer: str) -> None:
    flags = (*FLAGS, f"-fsanitize={sanitizer}") if sanitizer else FLAGS
    program = cpp_driver.build(tmp_path / "engines", list(SOURCES), *flags)
    assert cpp_driver.run(program, *ORDERS) == "ok\n"
