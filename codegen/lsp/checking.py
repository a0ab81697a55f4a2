"""Diagnostics of a file as it is typed.

A check of the whole file takes about a second. Between two of them, only the entries that have changed since
the last one are read again, against the program that it found; what was said of all other entries stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.cli.lock import lock_problems
from codegen.diagnostics import Diagnostic, Diagnostics, GenerationError, Location
from codegen.lsp.files import OPERATORS, Bases
from codegen.model import Operator, Program, read_program
from codegen.model.checks.drafts import unwritten
from codegen.model.checks.redundant import redundancies
from codegen.model.surroundings import Surroundings, scan_surroundings
from codegen.yaml.entries import entry_starts, name_in

ERROR = "error"
WARNING = "warning"
INFORMATION = "information"

# More changed entries than this, as after a switch of branches, are left to the check of the whole file.
_MOST_CHANGED = 40
_HEADING = re.compile(r"^(?P<margin> +)[A-Za-z_]\w*: *(?:#.*)?\n", re.MULTILINE)
_CHAPTER = re.compile(r"^ *# Chapter .*\n", re.MULTILINE)
_TOPICS = re.compile(r"^topics *:.*\n", re.MULTILINE)
_LIBRARY = re.compile(r"^library *:.*\n", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    diagnostic: Diagnostic
    severity: str


@dataclass(frozen=True)
class Checked:
    """What is known of one text of a file. ``program`` is None if nothing of it can be read."""

    text: str
    program: Program | None
    surroundings: Surroundings | None
    findings: tuple[Finding, ...]


class Checker:
    """Checks the texts of one file."""

    def __init__(self, path: Path, bases: Bases) -> None:
        self.path = path
        self.bases = bases

    def check(self, text: str) -> Checked:
        """Everything that ``python -m codegen check`` reports."""
        kind = self.bases.kind_of(self.path, text)
        if kind is None:
            return Checked(text, None, None, ())

        base = self.bases.base_of(self.path, text)
        if kind != OPERATORS:
            return self._check_other(kind, text, base)

        problems = Diagnostics()
        dialect = self.bases.target.dialect
        surroundings = scan_surroundings(dialect, self.path.parent, base)
        program = read_program(
            self.path, problems, base, text=text, surroundings=surroundings, dialect=dialect
        )
        findings = _findings(problems, program)
        if program is not None and not findings:
            findings = _changes(program)
        return Checked(text, program, surroundings, tuple(findings))

    def _check_other(self, kind: str, text: str, base: Program | None) -> Checked:
        if base is None:
            return Checked(text, None, None, ())
        try:
            self.bases.target.file_kinds[kind].check(self.path, base, text)
        except GenerationError as error:
            found = [Finding(d, ERROR) for d in error.diagnostics.sorted()]
            return Checked(text, None, None, tuple(found))
        return Checked(text, None, None, ())

    def check_changes(self, text: str, before: Checked) -> tuple[Finding, ...] | None:
        """What the entries that differ from ``before`` say of ``text``; None if that is not enough."""
        if before.program is None or before.surroundings is None:
            return None
        change = _Change.between(before.text, text)
        if change is None:
            return None

        moved = [change.moved(finding, self.path.name) for finding in before.findings]
        kept = [finding for finding in moved if finding is not None]
        if change.start == change.end:  # entries are gone, or the text is the same
            return tuple(kept)

        part = change.part(text)
        if part is None:
            return None
        problems = Diagnostics()
        base = _without(before.program, change.old_lines, change.old_names)
        dialect = self.bases.target.dialect
        program = read_program(
            self.path, problems, base, text=part, surroundings=before.surroundings, dialect=dialect
        )
        return tuple(sorted({*kept, *_findings(problems, program)}))


def _findings(problems: Diagnostics, program: Program | None) -> list[Finding]:
    """The problems, and what right entries need not say."""
    found = [Finding(diagnostic, ERROR) for diagnostic in problems.sorted()]
    wrong = {finding.diagnostic.operator for finding in found}
    needless = [*redundancies(program), *unwritten(program)] if program is not None else []
    return [*found, *(Finding(d, WARNING) for d in needless if d.operator not in wrong)]


def _changes(program: Program) -> list[Finding]:
    """How the entries differ from the lock file."""
    return [
        Finding(d, WARNING if d.hint.startswith("this breaks") else INFORMATION)
        for d in sorted(lock_problems(program))
    ]


@dataclass(frozen=True)
class _Change:
    """The entries that differ between two texts: lines (from, to) that count from 1, without the last."""

    old_lines: tuple[int, int]
    new_lines: tuple[int, int]
    old_names: frozenset[str]
    start: int  # in the new text
    end: int

    @classmethod
    def between(cls, old: str, new: str) -> _Change | None:
        """None if what precedes the first entry differs, or too many entries do."""
        before = _chunks(old)
        after = _chunks(new)
        shorter = min(len(before), len(after))
        same = next((i for i in range(shorter) if before[i] != after[i]), shorter)
        tail = next((i for i in range(shorter - same) if before[-1 - i] != after[-1 - i]), shorter - same)
        if same == 0 or len(after) - same - tail > _MOST_CHANGED:
            return None

        first = 1 + sum(chunk.count("\n") for chunk in after[:same])
        start = sum(map(len, after[:same]))
        gone = before[same : len(before) - tail]
        came = after[same : len(after) - tail]
        return cls(
            (first, first + sum(chunk.count("\n") for chunk in gone)),
            (first, first + sum(chunk.count("\n") for chunk in came)),
            frozenset(filter(None, (name_in(chunk, (0, len(chunk))) for chunk in gone))),
            start,
            start + sum(map(len, came)),
        )

    def moved(self, finding: Finding, file: str) -> Finding | None:
        """Where a finding of the old text is in the new one; None if its entry has changed."""
        place = finding.diagnostic.location
        first, behind = self.old_lines
        if place.file != file or place.line < first:
            return finding
        if place.line < behind or finding.diagnostic.operator.split(".")[0] in self.old_names:
            return None
        line = place.line + self.new_lines[1] - behind
        moved = finding.diagnostic._replace(location=Location(file, line, place.column))
        return replace(finding, diagnostic=moved)

    def part(self, text: str) -> str | None:
        """The changed entries below the headings that they are in, in the lines where they are."""
        topics = _TOPICS.search(text)
        heading = self._heading(text)
        if topics is None or heading is None:
            return None

        kept = [
            found for found in (_LIBRARY.search(text), topics, _last(_CHAPTER, text, self.start)) if found
        ]
        parts: list[str] = []
        at = 0
        for start, end in sorted([*(found.span() for found in (*kept, heading)), (self.start, self.end)]):
            parts += ["\n" * text.count("\n", at, start), text[start:end]]
            at = end
        return "".join(parts)

    def _heading(self, text: str) -> re.Match[str] | None:
        """The topic of the first changed entry: the last line before it that is a key and less indented."""
        rest = text[self.start : self.end]
        margin = len(rest) - len(rest.lstrip(" "))
        found = [m for m in _HEADING.finditer(text, 0, self.start) if len(m["margin"]) < max(margin, 2)]
        return found[-1] if found else None


def _chunks(text: str) -> list[str]:
    """The text before the first entry, and each entry with all that follows it up to the next one."""
    starts = entry_starts(text)
    return [text[start:end] for start, end in zip([0, *starts], [*starts, len(text)])]


def _last(pattern: re.Pattern[str], text: str, end: int) -> re.Match[str] | None:
    """The last match before ``end``."""
    found = list(pattern.finditer(text, 0, end))
    return found[-1] if found else None


def _without(program: Program, lines: tuple[int, int], names: frozenset[str]) -> Program:
    """The program without the entries in these lines."""

    def stays(operator: Operator) -> bool:
        return not lines[0] <= operator.location.line < lines[1]

    operators = {name: operator for name, operator in program.operators.items() if stays(operator)}
    by_base: dict[str, Sequence[Operator]] = {
        name: tuple(filter(stays, overloads)) for name, overloads in program.by_base.items()
    }
    return replace(
        program,
        operators=operators,
        by_base={name: tuple(overloads) for name, overloads in by_base.items() if overloads},
        broken=program.broken - names,
    )
