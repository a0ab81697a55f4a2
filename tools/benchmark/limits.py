"""What the processor can do at most, measured on the spot by a small program."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("peak.cpp")


class Peaks:
    """The most operations per second of one core, by dtype: a number for each call, which may be disturbed.

    Without a compiler, or where a dtype has no instructions of its own, there is none.
    """

    def __init__(self) -> None:
        self._library: ctypes.CDLL | None = None
        self._best: dict[str, float] = {}
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
        if compiler is None:
            return

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "peak.so"
            command = [*compiler.split(), "-O2", "-march=native", "-ffp-contract=fast", "-Wno-psabi"]
            built = subprocess.run(
                [*command, "-std=c++20", "-shared", "-fPIC", str(SOURCE), "-o", str(path)],
                capture_output=True,
            )
            if built.returncode == 0:
                self._library = ctypes.CDLL(str(path))

    def measure(self, dtype: str) -> float | None:
        """The highest rate of this and earlier calls."""
        function = getattr(self._library, f"peak_{dtype}", None) if self._library else None
        if function is None:
            return None
        function.restype = ctypes.c_double
        self._best[dtype] = max(self._best.get(dtype, 0.0), *(function() for _ in range(5)))
        return self._best[dtype] or None
