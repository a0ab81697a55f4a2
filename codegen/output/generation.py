"""Renders the files of a target and brings a folder up to date with them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codegen.diagnostics import Diagnostics, GenerationError
from codegen.model import Program, read_program
from codegen.model.known import Known, known_of, read_changed, write_pickle
from codegen.output import fingerprint, processes
from codegen.output.templates import Templates
from codegen.output.writer import GenerateReport, Staged, write_tree
from codegen.target import Part, Target, joined

# Compiled templates, in the folder that is generated, and what a later run can use.
CACHE = ".templates"
KNOWN = ".known.pickle"

# With this many parts or fewer, forking costs more than it saves.
_MOST_PARTS_ALONE = 8


def render(program: Program, target: Target, cache: Path | None = None) -> Mapping[str, str]:
    """Every generated file: path relative to the output folder -> text."""
    found: dict[str, str] = {}
    in_pieces: dict[str, dict[tuple[int, ...], str]] = {}
    for part in _parts(program, target, cache):
        for name, text in part().items():
            if isinstance(text, str):
                found[name] = text
            else:
                in_pieces.setdefault(name, {}).update(text)

    found.update({name: joined(pieces) for name, pieces in in_pieces.items()})
    return dict(sorted(found.items()))


def generate(program: Program, target: Target, output: Path) -> GenerateReport:
    """Brings ``output`` up to date with ``program``; nothing is written before everything is rendered."""
    base = None if program.base is None else Path(program.base.path)
    inputs = fingerprint.inputs_digest(Path(program.path), target, base)
    names: list[str] = []
    report = _write_parts(output, _parts(program, target, output / CACHE), inputs, names)
    return report._replace(notes=tuple(target.notes(program)))


def write_output(output: Path, files: Mapping[str, str], inputs: str) -> GenerateReport:
    """Writes the files, removes what the last run wrote and this one lacks, and records ``inputs``."""
    return _write_parts(output, [lambda: files], inputs, [])


def _parts(program: Program, target: Target, cache: Path | None) -> Sequence[Part]:
    found = target.files(program, Templates(program.file, target, cache))
    if isinstance(found, Mapping):
        files = found
        return [lambda: files]
    return found


def _write_parts(
    output: Path,
    parts: Sequence[Part],
    inputs: str,
    names: list[str],
    meanwhile: Callable[[], None] = lambda: None,
) -> GenerateReport:
    """Renders in several processes, so that each holds the texts of one part at a time.

    Fills ``names`` with those of all files. Calls ``meanwhile`` when the other processes have begun.
    """
    stamp = fingerprint.read_stamp(output) or {}
    with Staged(output) as staged:

        def add(number: int) -> tuple[list[str], list[str]]:
            files = parts[number]()
            return [name for name, text in files.items() if isinstance(text, str)], staged.add(files)

        differing: list[str] = []
        several = processes.available() if len(parts) > _MOST_PARTS_ALONE else 1
        for found, changed in processes.shared(len(parts), add, several, meanwhile):
            names += found
            differing += changed
        found, changed = staged.join_pieces()
        names += found
        differing += changed

        names.sort()
        twice = [name for name, following in zip(names, names[1:]) if name == following]
        assert not twice, f"two parts of the output have files called {twice[0]}"
        report = staged.commit(names, sorted(differing), stamp.get("files", {}))

    fingerprint.write_stamp(output, inputs, names)
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
    read: list[Callable[[], Known | None]] = []
    program = read_program(
        path,
        problems,
        dialect=target.dialect,
        remember=lambda *found: read.append(lambda: known_of(*found)),
    )
    if problems or program is None:
        raise GenerationError(problems)

    inputs = fingerprint.with_declarations(around, path)
    known: list[Known | None] = []
    names: list[str] = []

    def remember() -> None:
        if incremental is not None:
            known.extend(found() for found in read)

    parts = _parts(program, target, output / CACHE)
    report = _write_parts(output, parts, inputs, names, remember)
    remembered = None
    if incremental is not None and known and known[0] is not None:
        remembered = (known[0], incremental.remember(program, frozenset(names)))
    _remember(output, around, remembered)
    return report._replace(notes=tuple(target.notes(program)))


def _update(path: Path, target: Target, output: Path, around: str) -> GenerateReport | None:
    """Renders what follows from the topics that have changed; None if everything has to be rendered."""
    stamp = fingerprint.read_stamp(output)
    remembered = _remembered(output, around)
    if stamp is None or remembered is None:
        return None
    known, memory = remembered
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
    _remember(output, around, (change.known, rendered.memory))
    unchanged = len({*states, *files}) - len(report.written)
    return GenerateReport(report.written, report.removed, unchanged, tuple(rendered.notes))


def _remembered(output: Path, around: str) -> tuple[Known, Any] | None:
    """What a run with the same surroundings has left; only the same generator can read it."""
    try:
        data = (output / KNOWN).read_bytes()
    except OSError:
        return None
    mark = around.encode()
    if not data.startswith(mark):
        return None
    try:
        found = pickle.loads(memoryview(data)[len(mark) :])
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError):
        return None
    return found if isinstance(found, tuple) and len(found) == 2 else None


def _remember(output: Path, around: str, what: tuple[Known, object] | None) -> None:
    path = output / KNOWN
    path.unlink(missing_ok=True)
    if what is not None:
        with open(path, "wb") as file:
            file.write(around.encode())
            write_pickle(what, file)
