"""Seconds of `import torch_py` and bytes of an installation and of its wheel, with and without BLAS."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.build import package
from tools.build.sources import GENERATED

from .table import format_table, write_json

ROOT = Path(__file__).resolve().parents[2]
IMPORT = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
BLAS_LIBRARY = "libtorch_py_blas"
IMPORT_GOAL = 0.3
SIZE_GOAL = 60.0
WHEEL_GOAL = 15.0


def import_seconds(module: str, times: int) -> float:
    """Median over fresh processes, the first left out: it reads the files from disk."""
    command = [sys.executable, "-c", IMPORT.format(module=module)]
    measured = [
        float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        for _ in range(times + 1)
    ]
    return statistics.median(measured[1:])


def installed_files(toolchain: Path, root: Path = ROOT) -> list[Path]:
    """What a wheel would hold: the Python files of the package, what the build adds, and the archive
    `toolchain`."""
    python = [
        path
        for path in (root / "torch_py").rglob("*")
        if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed"
    ]
    added = [*package.libraries(root), toolchain]
    for base in (root, root / GENERATED):
        added += package.headers(base)
    return sorted({path for path in [*python, *added] if path.is_file()})


def installed_bytes(path: Path) -> int:
    return path.stat().st_size


def compressed_bytes(path: Path) -> int:
    """As in a wheel, which is a zip file."""
    return len(zlib.compress(path.read_bytes()))


def sizes(measure: Callable[[Path], int], toolchain: Path, root: Path = ROOT) -> dict[str, float]:
    """Megabytes by kind."""
    result = {
        "BLAS": 0.0,
        "other libraries": 0.0,
        "Python": 0.0,
        "headers": 0.0,
        "toolchain for operator libraries": 0.0,
    }

    for path in installed_files(toolchain, root):
        if BLAS_LIBRARY in path.name:
            kind = "BLAS"
        elif ".so" in path.suffixes:
            kind = "other libraries"
        elif path == toolchain:
            kind = "toolchain for operator libraries"
        else:
            kind = "headers" if path.suffix == ".h" else "Python"
        result[kind] += measure(path) / 2**20

    return result


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark package", description=__doc__)
    parser.add_argument("--times", type=int, default=9, help="imports to measure")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)

    seconds = import_seconds("torch_py", options.times)
    with tempfile.TemporaryDirectory() as folder:
        toolchain = Path(folder) / package.TOOLCHAIN_ARCHIVE
        package.pack(ROOT, package.toolchain_files(ROOT), toolchain)
        parts = sizes(installed_bytes, toolchain)
        packed = sizes(compressed_bytes, toolchain)
    without_blas = sum(size for kind, size in parts.items() if kind != "BLAS")
    wheel = sum(size for kind, size in packed.items() if kind != "BLAS")

    print(
        f"import torch_py: {seconds:.3f} s (goal: at most {IMPORT_GOAL}) "
        f"{'reached' if seconds <= IMPORT_GOAL else 'MISSED'}\n"
    )
    rows = [[kind, f"{size:.1f}", f"{packed[kind]:.1f}"] for kind, size in parts.items()]
    print(format_table(["kind", "MB installed", "MB in the wheel"], rows))
    print(
        f"without BLAS: {without_blas:.1f} MB (goal: at most {SIZE_GOAL:.0f}) "
        f"{'reached' if without_blas <= SIZE_GOAL else 'MISSED'}; "
        f"in the wheel {wheel:.1f} MB (goal: at most {WHEEL_GOAL:.0f}) "
        f"{'reached' if wheel <= WHEEL_GOAL else 'MISSED'}"
    )

    result: dict[str, Any] = {
        "import_seconds": seconds,
        "megabytes": parts,
        "megabytes_without_blas": without_blas,
        "megabytes_in_wheel": packed,
    }
    write_json(options.json, result)
    return 0
