"""The files that the lint reads: those git tracks or would track, never builds or environments."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP = (".cpp", ".h", ".cu", ".cuh")
PYTHON = (".py",)
# What a command writes, or is written from: it looks like source, but nobody reads or formats it as such.
NOT_SOURCES = ("templates/", "tests/golden/")


def files(suffixes: tuple[str, ...] = (), root: Path = ROOT) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    kept = (
        path
        for path in set(listed)
        if path.endswith(suffixes or "") and not (suffixes and path.startswith(NOT_SOURCES))
    )
    return sorted(path for path in kept if path and (root / path).is_file())
