"""The generated files of torch_py. Importing this package does not import Jinja2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.model import Program
    from codegen.output.writer import GenerateReport

__all__ = ["generate", "render"]


def render(program: Program) -> Mapping[str, str]:
    """Every generated file: path relative to the output folder -> text."""
    from codegen.output import generation
    from codegen.targets.torch_py import TARGET

    return generation.render(program, TARGET)


def generate(program: Program, output: Path) -> GenerateReport:
    """Brings ``output`` up to date with ``program``."""
    from codegen.output import generation
    from codegen.targets.torch_py import TARGET

    return generation.generate(program, TARGET, output)
