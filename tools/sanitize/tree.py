"""A copy of the checkout that is built with sanitizers, and the environment of programs that run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.build.files import write_if_changed
from tools.copies import ROOT, Copy

# What CORE=1 instruments: what every call goes through, and where indices become addresses.
CORE = (
    "c10/",
    "aten/core/",
    "aten/iteration/",
    "aten/parallel/",
    "aten/native/",
    "torch_py/csrc/bindings/calls/",
    "torch_py/csrc/bindings/tensor/",
    "torch_py/csrc/bindings/types/",
)
# The runtime libraries that must be loaded before the interpreter. libstdc++ follows, as the
# sanitizers look for its functions when they start.
PRELOADED = {"address": ("libasan.so", "libstdc++.so"), "thread": ("libtsan.so", "libstdc++.so")}

# Where the sanitizers of addresses and of undefined behaviour are both loaded, the option log_path of both
# sets the path of the first. This function is asked of the library itself.
STARTUP = """\
import ctypes
library = ctypes.CDLL({library!r})
library.__sanitizer_set_report_path({reports!r})
"""


@dataclass(frozen=True)
class Tree:
    kinds: str  # as in TORCH_PY_SANITIZE
    core: bool

    @property
    def folder(self) -> Path:
        return ROOT / "build" / "sanitize" / (self.kinds.replace(",", "-") + ("-core" if self.core else ""))

    @property
    def reports(self) -> Path:
        return self.folder / "build" / "reports"

    @property
    def startup(self) -> Path:
        return self.folder / "build" / "startup"

    def build(self) -> None:
        copy = Copy(self.folder)
        copy.update()
        variables = {
            # Kernels are built for one instruction set: reports would be the same for the others.
            "TORCH_PY_ISAS": "DEFAULT",
            # -O0 compiles several times as fast.
            "TORCH_PY_CXXFLAGS": "-O0" if self.core else "-O1",
            **os.environ,
            "TORCH_PY_SANITIZE": self.kinds,
        }
        copy.build(variables, CORE if self.core else ())

    def write_startup(self) -> None:
        """A module that every interpreter of the tree imports when it starts."""
        library = runtime_library("libubsan.so")
        reports = f"{self.reports}/report-undefined".encode()
        text = STARTUP.format(library=library, reports=reports) if "undefined" in self.kinds else ""
        write_if_changed(self.startup / "sitecustomize.py", text)

    def environment(self) -> dict[str, str]:
        """For programs: what to preload, and options that let them go on after a report."""
        common = f"log_path={self.reports}/report:print_stacktrace=1:handle_segv=2:handle_abort=0"
        preloaded = [
            runtime_library(name) for kind in self.kinds.split(",") for name in PRELOADED.get(kind, ())
        ]
        return {
            **os.environ,
            "LD_PRELOAD": " ".join(preloaded),
            "PYTHONPATH": f"{self.folder}:{self.startup}",
            "PYTHONMALLOC": "malloc",
            "TORCH_PY_SANITIZED": self.kinds,
            # Python and its packages leave memory behind when a process ends.
            "ASAN_OPTIONS": f"{common}:halt_on_error=0:detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": common,
            "TSAN_OPTIONS": (
                f"{common}:halt_on_error=0:report_signal_unsafe=0:allocator_may_return_null=1"
                f":suppressions={ROOT / 'tools/sanitize/races_of_libraries.txt'}"
            ),
        }

    def run(self, command: list[str]) -> int:
        """Runs the interpreter with these arguments; its exit status."""
        self.write_startup()
        return subprocess.run([sys.executable, *command], cwd=self.folder, env=self.environment()).returncode


def runtime_library(name: str) -> str:
    """The full path of a library of the compiler."""
    compiler = os.environ.get("CXX", "g++").split()[0]
    command = [compiler, f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        raise FileNotFoundError(
            f"{compiler} has no {name}; on Debian/Ubuntu it is part of the package of g++"
        )
    return os.path.realpath(found)
