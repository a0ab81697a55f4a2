"""Runs a script under PyTorch and under torch_py, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .comparison import first_difference
from .table import Program

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = Path(__file__).parent / "scripts"
SECONDS = 600


@dataclass(frozen=True)
class Outcome:
    """What became of a program. None: not tried."""

    program: Program
    version: str | None
    under_torch: bool | None = None
    under_torch_py: bool | None = None
    problem: str = ""


@dataclass(frozen=True)
class Run:
    passed: bool
    output: str
    problem: str


def run(script: Path, *, as_torch: bool, torchvision: str | None) -> Run:
    paths = [os.environ.get("PYTHONPATH", ""), torchvision or "", str(ROOT) if as_torch else ""]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONWARNINGS": "ignore",
        "HF_HUB_OFFLINE": "1",
    }
    command = [sys.executable, *(["-m", "torch_py.as_torch"] if as_torch else []), str(script)]

    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return Run(False, "", f"took more than {SECONDS} s")
    return Run(done.returncode == 0, done.stdout, exception_of(done.stderr))


def exception_of(text: str) -> str:
    """The exception that everything began with; without one the last line."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [
        line
        for line in lines
        if line[:1].isalpha() and ("Error" in line.split(":")[0] or "Exception" in line.split(":")[0])
    ]
    return (errors[0] if errors else lines[-1] if lines else "no message")[:160]


def try_program(program: Program, torchvision: str | None) -> Outcome:
    try:
        version = metadata.version(program.package)
    except metadata.PackageNotFoundError:
        return Outcome(program, None, problem="not installed")

    if program.needs_torchvision and torchvision is None:
        return Outcome(program, version, problem="needs torchvision, see --torchvision")
    script = SCRIPTS / f"use_{program.script}.py"
    if not script.exists():
        return Outcome(program, version, problem="has no script yet")
    vision = torchvision if program.needs_torchvision else None
    theirs = run(script, as_torch=False, torchvision=vision)
    ours = run(script, as_torch=True, torchvision=vision)

    if not theirs.passed:
        return Outcome(program, version, False, ours.passed, f"under torch: {theirs.problem}")
    problem = ours.problem if not ours.passed else first_difference(theirs.output, ours.output)
    return Outcome(program, version, True, problem is None, problem or "")
