"""The CUDA library on an emulated GPU, built with sanitizers; the core that it uses is the ordinary one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import tree
from .tree import Tree

# Each instance of a kernel is watched for races in its first launches of one block and of several.
WATCHED_LAUNCHES = "1"
PROGRAM = ["-m", "pytest", "-q", "tests/cuda/test_operators.py"]


@dataclass(frozen=True)
class Emulation(Tree):
    """The checkout itself: the library has a folder of its own below build."""

    core: bool = False
    parts: int = 1  # the tests run on one part of this many, another one after each commit

    @property
    def folder(self) -> Path:
        return tree.ROOT

    @property
    def output(self) -> Path:
        return self.folder / "build" / f"emulation-{self.kinds.replace(',', '-')}"

    @property
    def reports(self) -> Path:
        return self.output / "reports"

    @property
    def startup(self) -> Path:
        return self.output / "startup"

    @property
    def watched(self) -> Path:
        return self.reports / "watched.txt"

    def build(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "tools.build", "--emulation"],
            cwd=self.folder,
            env={**os.environ, "TORCH_PY_SANITIZE": self.kinds},
            check=True,
        )

    def environment(self) -> dict[str, str]:
        found = {
            **super().environment(),
            "TORCH_PY_CUDA_LIBRARY": str(self.output / "libtorch_py_cuda.so"),
            "TORCH_PY_EMULATION_WATCHED": str(self.watched),
        }
        defaults = {"CUDA_SHARE": self.share(), "TORCH_PY_EMULATION_WATCH": WATCHED_LAUNCHES}
        if "thread" in self.kinds:
            defaults["CUDA_DTYPES"] = "float32"
        return defaults | found

    def share(self) -> str:
        """The part of the operators whose turn it is, as tests/cuda reads it: 2/5."""
        command = ["git", "rev-list", "--count", "HEAD"]
        commits = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout
        return f"{int(commits) % self.parts + 1}/{self.parts}"

    def summary(self, environment: Mapping[str, str]) -> str:
        """What was run, for the last line."""
        what = f"part {environment['CUDA_SHARE']} of the operators"
        if not self.watched.exists():
            return what
        lines = set(self.watched.read_text().splitlines())
        kernels = {line.rpartition(" ")[0] for line in lines}
        return f"{what}; {len(kernels)} kernels watched for races in {len(lines)} forms"
