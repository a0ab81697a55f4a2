"""Renders the generated files and writes them.

Importing this package does not import Jinja2, which a run that finds everything up to date does not need.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.emit import fingerprint
from codegen.emit.writer import GenerateReport, write_tree

if TYPE_CHECKING:
    from codegen.emit.tree import Tree
    from codegen.model import Program

__all__ = ["GenerateReport", "generate", "render"]


def render(
    program: Program,
    library: str | None = None,
    cache: Path | None = None,
    selected: frozenset[str] | None = None,
) -> dict[str, str]:
    """Every generated file: path relative to the output folder -> text."""
    return _tree(program, library, cache, selected).render()


def _tree(program: Program, library: str | None, cache: Path | None, selected: frozenset[str] | None) -> Tree:
    from codegen.emit.tree import Tree  # imports Jinja2

    return Tree(program, library or program.library, cache, selected=selected)


def generate(
    program: Program,
    output_dir: Path | str,
    library: str | None = None,
    selected: frozenset[str] | None = None,
    selection: Path | None = None,
) -> GenerateReport:
    """Brings ``output_dir`` up to date with ``program``; nothing is written before everything is rendered.

    ``selected`` has the unambiguous names of the operators that are to work, None for all; ``selection`` is
    the file that they follow from.
    """
    output = Path(output_dir)
    yaml_path = Path(program.path)
    base = None if program.base is None else Path(program.base.path)
    inputs = fingerprint.inputs_digest(yaml_path, base, selection)

    tree = _tree(program, library, output / ".templates", selected)
    files = tree.render()

    stamp = fingerprint.read_stamp(output) or {}
    output.mkdir(parents=True, exist_ok=True)
    report = write_tree(output, files, stamp.get("files", {}))
    fingerprint.write_stamp(output, inputs, files)
    return replace(report, notes=tuple(tree.notes()))
