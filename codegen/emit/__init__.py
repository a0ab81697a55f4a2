"""Writes the generated tree. ``generate`` imports the templates on first use, so that checking the stamp stays cheap."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codegen.emit import fingerprint
from codegen.emit.writer import GenerateReport, write_tree

if TYPE_CHECKING:
    from codegen.model import Operator, Program

__all__ = ["GenerateReport", "explain_files", "generate", "render"]


def render(program: Program, library: str | None = None, cache: Path | None = None) -> dict[str, str]:
    """Every generated file: path relative to the output folder -> text."""
    from codegen.emit.tree import Tree

    return Tree(program, library or program.library, cache).render()


def generate(program: Program, output_dir: Path | str, library: str | None = None) -> GenerateReport:
    """Brings ``output_dir`` up to date with ``program``; nothing is written before everything is rendered."""
    output = Path(output_dir)
    yaml_path = Path(program.path)
    inputs = fingerprint.inputs_digest(yaml_path, yaml_path.parent)
    files = render(program, library, output / ".templates")
    stamp = fingerprint.read_stamp(output) or {}
    output.mkdir(parents=True, exist_ok=True)
    report = write_tree(output, files, stamp.get("files", {}))
    fingerprint.write_stamp(output, inputs, files)
    return report


def explain_files(program: Program, operator: Operator) -> list[tuple[str, int]]:
    """Generated files that an operator appears in, with the line of its schema or of its first function."""
    from codegen.emit.explain import find_lines

    return find_lines(render(program), operator)
