"""``aten/Dispatch.h``: one AT_DISPATCH macro per dtype set and per combination of sets in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codegen.dtypes import DTYPE_CONSTANTS
from codegen.model import DtypeSet, Program
from codegen.model.program import combination_macro


class Macro(NamedTuple):
    name: str
    members: tuple[str, ...]  # canonical dtype names
    constants: tuple[str, ...]  # kFloat ...


def macros(program: Program) -> list[Macro]:
    """The macros of sets in file order, then those of combinations, sorted by name."""
    found = {s.macro: _macro(s.macro, s.members) for s in program.dtype_sets.values()}
    combined: dict[str, Macro] = {}
    for operator in program:
        if len(operator.dtype_sets) > 1:
            name = combination_macro(operator.dtype_sets)
            combined[name] = _macro(name, operator.dtypes)
    return [*found.values(), *(combined[name] for name in sorted(combined) if name not in found)]


def members_by_name(sets: Mapping[str, DtypeSet]) -> dict[str, tuple[str, ...]]:
    return {name: s.members for name, s in sets.items()}


def _macro(name: str, members: tuple[str, ...]) -> Macro:
    return Macro(name, members, tuple(DTYPE_CONSTANTS[m] for m in members))
