"""Reads a list of operators: ``add.Tensor`` or, for all overloads, ``add``, one a line."""

from __future__ import annotations

from pathlib import Path

from codegen.diagnostics import Diagnostics, GenerationError, Location, did_you_mean
from codegen.model import Operator, Program


def read_names(path: Path, program: Program) -> list[Operator]:
    """The operators that the list names; GenerationError with the line of each unknown name."""
    problems = Diagnostics()
    known: dict[str, list[Operator]] = {}
    for operator in program:
        for name in _names_of(operator):
            known.setdefault(name, []).append(operator)

    found: dict[str, Operator] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name = line.partition("#")[0].strip().removeprefix("aten::")
        if not name:
            continue
        if name not in known:
            place = Location(path.name, number, 1)
            problems.report(place, name, "no operator has this name", did_you_mean(name, known, 0))
        found.update((operator.unambiguous_name, operator) for operator in known.get(name, ()))
    if problems:
        raise GenerationError(problems)
    return list(found.values())


def _names_of(operator: Operator) -> set[str]:
    """The names of all forms, with and without overload: ``add_.Tensor``, ``add_``."""
    whole = {str(schema.name) for schema in operator.schemas()}
    return whole | {name.partition(".")[0] for name in whole}
