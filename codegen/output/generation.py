"""Renders the files of a target and brings a folder up to date with them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.diagnostics import Diagnostics, GenerationError
from codegen.model import Program, read_program
from codegen.model.known import Known, known_of, pickled, read_changed
from codegen.output import fingerprint
from codegen.output.templates import Templates
from codegen.output.writer import GenerateReport, write_tree
from codegen.target import Target

# Compiled templates, in the folder that is generated, and what a later run can use.
CACHE = ".templates"
KNOWN = ".known.pickle"


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


# With what an earlier run knows


def generate_file(path: Path, target: Target, output: Path, around: str) -> GenerateReport:
    """Brings ``output`` up to date with a file that extends no other.

    Raises GenerationError with all problems. After an edit of a few topics, only these are read and
    rendered, if the target can do that. ``around`` is the digest of everything but the file.
    """
    incremental = target.incremental
    if incremental is not None:
        report = _update(path, target, output, around)
        if report is not None:
            return report

    problems = Diagnostics()
    known: list[Known | None] = []
    program = read_program(
        path,
        problems,
        dialect=target.dialect,
        remember=lambda *found: known.append(known_of(*found)) if incremental is not None else None,
    )
    if problems or program is None:
        raise GenerationError(problems)

    inputs = fingerprint.with_declarations(around, path)
    files = render(program, target, output / CACHE)
    remembered = None
    if incremental is not None and known and known[0] is not None:
        remembered = (around, known[0], incremental.remember(program, files))
    report = write_output(output, files, inputs)
    _remember(output, remembered)
    return replace(report, notes=tuple(target.notes(program)))


def _update(path: Path, target: Target, output: Path, around: str) -> GenerateReport | None:
    """Renders what follows from the topics that have changed; None if everything has to be rendered."""
    stamp = fingerprint.read_stamp(output)
    remembered = _remembered(output)
    if stamp is None or remembered is None or remembered[0] != around:
        return None
    _, known, memory = remembered
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):  # reported by the run over the whole file
        return None

    change = read_changed(path, text, known, target.dialect)
    if change is None or not fingerprint.is_untouched(output, stamp):
        return None
    inputs = fingerprint.with_declarations(around, path)
    assert target.incremental is not None
    templates = Templates(path.name, target, output / CACHE)
    rendered = target.incremental.update(
        change, templates, memory, lambda name: (output / name).read_text(encoding="utf-8")
    )
    if rendered is None:
        return None

    files = {name: text for name, text in rendered.files.items() if text is not None}
    gone = set(rendered.files) - set(files)
    report = write_tree(output, files, rendered.files)
    states = {name: state for name, state in stamp["files"].items() if name not in gone}
    fingerprint.write_stamp(output, inputs, files, states)
    _remember(output, (around, change.known, rendered.memory))
    unchanged = len({*states, *files}) - len(report.written)
    return GenerateReport(report.written, report.removed, unchanged, tuple(rendered.notes))


def _remembered(output: Path) -> tuple[str, Known, Any] | None:
    try:
        found = pickle.loads((output / KNOWN).read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError):
        return None
    return found if isinstance(found, tuple) and len(found) == 3 else None


def _remember(
    output: Path, what: tuple[str, Known, object] | tuple[str, Known | None, object] | None
) -> None:
    path = output / KNOWN
    path.unlink(missing_ok=True)
    if what is not None:
        path.write_bytes(pickled(what))
