"""Renders the files of a target and brings a folder up to date with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen.model import Program
from codegen.output import fingerprint
from codegen.output.templates import Templates
from codegen.output.writer import GenerateReport, write_tree
from codegen.target import Target

# Compiled templates, in the folder that is generated.
CACHE = ".templates"


def render(program: Program, target: Target, cache: Path | None = None) -> Mapping[str, str]:
    """Every generated file: path relative to the output folder -> text."""
    return target.files(program, Templates(program.file, target, cache))


def generate(program: Program, target: Target, output: Path) -> GenerateReport:
    """Brings ``output`` up to date with ``program``; nothing is written before everything is rendered."""
    base = None if program.base is None else Path(program.base.path)
    inputs = fingerprint.inputs_digest(Path(program.path), target, base)
    files = render(program, target, output / CACHE)

    report = write_output(output, files, inputs)
    return replace(report, notes=tuple(target.notes(program)))


def write_output(output: Path, files: Mapping[str, str], inputs: str) -> GenerateReport:
    """Writes the files, removes what the last run wrote and this one lacks, and records ``inputs``."""
    stamp = fingerprint.read_stamp(output) or {}
    output.mkdir(parents=True, exist_ok=True)
    report = write_tree(output, files, stamp.get("files", {}))
    fingerprint.write_stamp(output, inputs, files)
    return report
