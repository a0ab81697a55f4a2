"""``lock``: writes down what programs see of the entries. A change that breaks them needs ``--why``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from codegen.cli.loading import load_program
from codegen.diagnostics import Diagnostic, Diagnostics, GenerationError, Location
from codegen.model import Program
from codegen.model.lock import Change, Lock, LockError, changes, lock_path, read_lock, rows_of

_COMMAND = "python -m codegen lock"


def lock(options: argparse.Namespace) -> int:
    program = load_program(options)
    path = lock_path(program)
    before = _read(path) if path.is_file() else Lock({})
    rows = rows_of(program)
    found = changes(before.rows, rows)

    breaking = [change for change in found if change.is_breaking]
    if breaking and not options.why:
        print("\n".join(map(_text, breaking)), file=sys.stderr)
        print(f'these changes break programs; write why: {_COMMAND} --why "..."', file=sys.stderr)
        return 1

    reasons = before.reasons
    if breaking:
        names = ", ".join(dict.fromkeys(change.operator for change in breaking))
        reasons = (f"{names}: {' '.join(options.why.split())}", *reasons)
    path.write_text(str(Lock(rows, reasons)), encoding="utf-8")
    changed = f"{len(found)} change{'' if len(found) == 1 else 's'}"
    print(f"{path.name}: {len(rows)} operators, {changed}, {len(breaking)} of them breaking")
    return 0


def lock_problems(program: Program) -> Iterator[Diagnostic]:
    """What the entries say otherwise than the file, if there is one."""
    path = lock_path(program)
    if not path.is_file():
        return

    try:
        before = _read(path).rows
    except GenerationError as error:
        yield from error.diagnostics.sorted()
        return

    for change in changes(before, rows_of(program)):
        operator = program.find(change.operator)
        is_there = operator is not None and operator.name == change.operator
        place = operator.location if is_there and operator else Location(path.name, 1, 1)
        message = f"compared with {path.name}, {change.what}"
        if change.is_breaking:
            hint = f'this breaks programs: take it back, or give the reason, {_COMMAND} --why "..."'
        else:
            hint = f"this breaks no program: record it with {_COMMAND}"
        yield Diagnostic(place, change.operator, message, hint)


def _read(path: Path) -> Lock:
    try:
        return read_lock(path)
    except LockError as error:
        problems = Diagnostics()
        hint = f"remove it, then {_COMMAND}"
        problems.report(error.location, "lock", "not a line of this file", hint)
        raise GenerationError(problems) from error


def _text(change: Change) -> str:
    return f"{change.operator}: {change.what}"
