"""clang-format for C++ and ruff for Python, one line per file or problem."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding
from .tree import CPP, PYTHON, ROOT, files

REPLACEMENT = re.compile(
    r"^(?P<path>[^:]+):(?P<line>\d+):\d+: (?:error|warning): code should be clang-formatted"
)
RUFF = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):\d+: (?P<message>.*)$")
UNFORMATTED = "Would reformat: "
BATCH = 100  # files per command


def tool(name: str) -> str | None:
    next_to_python = Path(sys.executable).parent / name
    return str(next_to_python) if next_to_python.exists() else shutil.which(name)


def check(root: Path = ROOT) -> Iterator[Finding]:
    yield from check_cpp(root)
    yield from check_python(root)


def check_cpp(root: Path) -> Iterator[Finding]:
    program = tool("clang-format")
    if program is None:
        yield Finding("clang-format", 0, "not installed; make lint installs it into .venv")
        return

    paths = files(CPP, root)
    for start in range(0, len(paths), BATCH):
        result = subprocess.run(
            [program, "--dry-run", *paths[start : start + BATCH]], cwd=root, capture_output=True, text=True
        )

        first: dict[str, int] = {}
        for line in result.stderr.splitlines():
            found = REPLACEMENT.match(line)
            if found:
                first.setdefault(found["path"], int(found["line"]))

        for path, number in first.items():
            yield Finding(path, number, "not formatted from here on; make format")


def check_python(root: Path) -> Iterator[Finding]:
    program = tool("ruff")
    if program is None:
        yield Finding("ruff", 0, "not installed; make lint installs it into .venv")
        return
    command = [program, "check", "--quiet", "--output-format=concise", *files(PYTHON, root)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    for line in result.stdout.splitlines():
        found = RUFF.match(line)
        if found:
            advice = "; make format" if "[*]" in found["message"] else ""
            yield Finding(found["path"], int(found["line"]), found["message"].replace(" [*]", "") + advice)
    if result.returncode > 1:
        yield Finding(
            "ruff", 0, result.stderr.strip().splitlines()[-1] if result.stderr.strip() else "did not run"
        )

    command = [program, "format", "--check", *files(PYTHON, root)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True)
    for line in result.stdout.splitlines():
        if line.startswith(UNFORMATTED):
            yield Finding(line.removeprefix(UNFORMATTED), 0, "not formatted; make format")


def fix(root: Path = ROOT) -> None:
    program = tool("clang-format")
    paths = files(CPP, root)
    for start in range(0, len(paths) if program else 0, BATCH):
        subprocess.run([str(program), "-i", *paths[start : start + BATCH]], cwd=root, check=True)
    ruff = tool("ruff")
    if ruff:
        subprocess.run([ruff, "check", "--quiet", "--fix-only", *files(PYTHON, root)], cwd=root)
        subprocess.run([ruff, "format", "--quiet", *files(PYTHON, root)], cwd=root)
