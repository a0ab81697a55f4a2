"""Compiles a small C++ program from a driver and the few sources it checks, and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PROJECT_FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-fno-math-errno", "-fno-trapping-math", "-I.")


def _compile(output: Path, sources: list[str], *flags: str) -> Path:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    command = [*compiler.split(), *PROJECT_FLAGS, *flags, *sources, "-o", str(output)]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stderr[-4000:]}"
    return output


def object_file(output: Path, source: str, *flags: str) -> str:
    """Compiles `source` with its own flags; the object is passed to build() among the sources."""
    return str(_compile(output, [source], "-c", *flags))


def build(output: Path, sources: list[str], *flags: str) -> Path:
    """Builds a program at `output` from `sources`, which are relative to the repository."""
    return _compile(output, sources, *flags, "-pthread")


def run(program: Path, *arguments: str, **environment: str) -> str:
    """Runs the program and returns its output; fails the test if its exit status is not 0."""
    result = subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout
