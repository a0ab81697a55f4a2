"""Measures a full build and the rebuild after one new operator, in a copy of the tree: seconds and units."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .table import format_table, write_json

ROOT = Path(__file__).resolve().parents[2]
DECLARATIONS = "native_functions.yaml"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", "dist", "demo"
)
GOALS = {"full build": 720.0, "expr operator": 20.0, "kernel operator": 30.0}
UNITS_GOAL = 6

EXPR_ENTRY = """
    - func: benchmark_softcap(Tensor self, float cap) -> Tensor
      variants: function, method
      structure: pointwise
      dtypes: floating_and_reduced
      expr: cap * tanh(self / cap)
      samples: unary
      doc: Bounds ``self`` smoothly by ``cap``.
"""
KERNEL_ENTRY = """
    - func: benchmark_cube(Tensor self) -> Tensor
      variants: function, method
      structure: pointwise
      dtypes: floating
      dispatch:
        CPU: benchmark_cube_kernel
      derivatives:
        self: grad * 3 * self * self
      samples: unary
      doc: The third power.
"""
KERNEL_FILE = "aten/native/cpu/elementwise/PointwiseMathKernel.isa.cpp"
KERNEL = """\

namespace at::native {
inline namespace CPU_CAPABILITY {

void benchmark_cube_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING(iter.common_dtype(), "benchmark_cube", [&] {
    cpu_kernel(iter, [](scalar_t a) -> scalar_t { return a * a * a; });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
"""


@dataclass
class Build:
    name: str
    seconds: float
    units: list[str]  # objects that were compiled anew


class Tree:
    """A copy of the repository that can be changed at will.

    Time stamps are kept, so that what is built stays built.
    """

    def __init__(self, folder: Path, with_build: bool) -> None:
        self.folder = folder
        ignored = (
            NOT_COPIED
            if with_build
            else shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", "lib", "_C*.so", "dist")
        )
        shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)

    def objects(self) -> dict[str, int]:
        found = (self.folder / "build").rglob("*.o")
        return {path.relative_to(self.folder).as_posix(): path.stat().st_mtime_ns for path in found}

    def build(
        self, name: str, check: str = "import torch_py", environment: Mapping[str, str] | None = None
    ) -> Build:
        """Brings the copy up to date and runs `check` in it.

        Raises RuntimeError with the output if either fails.
        """
        before = self.objects()
        started = time.perf_counter()

        for command in ([sys.executable, "-m", "tools.build"], [sys.executable, "-c", check]):
            result = subprocess.run(
                command,
                cwd=self.folder,
                capture_output=True,
                text=True,
                env={**os.environ, **(environment or {})},
            )
            if result.returncode != 0:
                raise RuntimeError(
                    f"{name}: {' '.join(command)} failed\n{result.stdout[-3000:]}{result.stderr[-3000:]}"
                )

        seconds = time.perf_counter() - started
        return Build(
            name, seconds, sorted(path for path, stamp in self.objects().items() if before.get(path) != stamp)
        )

    def declare(self, topic: str, entry: str) -> None:
        """Adds an entry at the end of a topic."""
        path = self.folder / DECLARATIONS
        lines = path.read_text().split("\n")
        start = lines.index(f"  {topic}:")

        end = next(
            (
                i
                for i in range(start + 1, len(lines))
                if lines[i][:3].strip() and not lines[i].startswith("   ")
            ),
            len(lines),
        )
        while not lines[end - 1].strip():
            end -= 1

        lines[end:end] = entry.rstrip("\n").split("\n")
        path.write_text("\n".join(lines))

    def append(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(path.read_text() + text)


def incremental(folder: Path) -> list[Build]:
    tree = Tree(folder / "incremental", with_build=True)
    unchanged = tree.build("nothing changed")
    tree.declare("PointwiseMath", EXPR_ENTRY)
    expr = tree.build("expr operator", "import torch_py; torch_py.benchmark_softcap(torch_py.ones(2), 2.0)")
    tree.declare("PointwiseMath", KERNEL_ENTRY)
    tree.append(KERNEL_FILE, KERNEL)
    kernel = tree.build(
        "kernel operator",
        "import torch_py; assert torch_py.benchmark_cube(torch_py.full((2,), 2.0))[0].item() == 8",
    )
    return [unchanged, expr, kernel]


def describe(builds: list[Build]) -> str:
    rows = []
    for build in builds:
        goal = GOALS.get(build.name)
        mark = "" if goal is None else f"{goal:.0f} {'reached' if build.seconds <= goal else 'MISSED'}"
        rows.append([build.name, f"{build.seconds:.1f}", mark, str(len(build.units))])

    text = format_table(["build", "seconds until callable", "goal", "units compiled"], rows)
    for build in builds:
        if build.name in ("expr operator", "kernel operator"):
            verdict = "reached" if len(build.units) <= UNITS_GOAL else "MISSED"
            text += (
                f"\n\n{build.name}: {len(build.units)} translation units (goal: at most {UNITS_GOAL}) "
                f"{verdict}"
            )
            text += "".join(f"\n  {unit}" for unit in build.units)

    return text


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark build", description=__doc__)
    parser.add_argument(
        "--full", action="store_true", help="also build everything from nothing, without ccache (minutes)"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--folder", type=Path, help="where to put the copies; default: a temporary folder")
    options = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        builds = incremental(Path(folder))
        if options.full:
            builds.append(
                Tree(Path(folder) / "full", with_build=False).build(
                    "full build", environment={"TORCH_PY_CCACHE": "0"}
                )
            )

    print(describe(builds))
    write_json(options.json, {"builds": [asdict(build) for build in builds]})
    return 0
