"""The representative operators of tests/golden, loaded once."""

from __future__ import annotations

import functools
from pathlib import Path

from codegen.model import Program, load
from codegen.targets.torch_py.emit import render

FOLDER = Path(__file__).resolve().parent.parent / "golden"
YAML = FOLDER / "operators.yaml"
EXPECTED = FOLDER / "expected"


@functools.lru_cache(maxsize=1)
def golden_program() -> Program:
    return load(YAML)


@functools.lru_cache(maxsize=1)
def golden_files() -> dict[str, str]:
    return render(golden_program())
