"""c10/util: errors, reference counting, 16-bit floats, complex numbers, containers (see util_driver.cpp)."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver


def test_util(tmp_path: Path) -> None:
    # Conversions to and from Half are compared with the processor's where it has F16C.
    cpuinfo = Path("/proc/cpuinfo")
    has_f16c = platform.machine() == "x86_64" and cpuinfo.exists() and " f16c" in cpuinfo.read_text()
    sources = ["tests/c10/util_driver.cpp", "c10/util/Exception.cpp"]
    program = cpp_driver.build(tmp_path / "util", sources, "-O1", *(["-mf16c"] if has_f16c else []))
    assert cpp_driver.run(program) == "ok\n"
