"""``native_functions.lock``: what programs see of every public entry, and how a change of it affects them.

One line an entry: its schema, the Python names of its forms, its dtypes and its history. ``check`` compares
the entries with the file, so that a change which breaks programs is never made by accident: the command that
brings the file up to date asks why, and keeps the answer at its top.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from codegen.diagnostics import Location
from codegen.model.former_names import formerly
from codegen.model.operator import Operator
from codegen.model.program import Program
from codegen.remembered import cached_property
from codegen.schema import Argument, FunctionSchema

_HEAD = (
    "# What programs see of each operator: schema | Python names | dtypes | history. "
    "`python -m codegen lock` writes it.\n"
)
_REASON = "# breaking: "
_SHORT = (("bfloat", "bf"), ("float", "f"), ("complex", "c"), ("uint", "u"), ("int", "i"))


_WAS = "was "
_SCHEMA = re.compile(r"\w+(\.\w+)?\(.*\) -> ")


class LockError(Exception):
    """A line is not a row, as after a merge with conflicts."""

    def __init__(self, location: Location) -> None:
        super().__init__(f"{location}: not a line of this file")
        self.location = location


@dataclass(frozen=True)
class Row:
    """One line: ``schema | names | dtypes | history``; empty cells at the end are left out."""

    schema: str
    names: tuple[str, ...]
    dtypes: tuple[str, ...]
    history: tuple[str, ...] = ()  # "since 0.2", "was soft.Tensor until 0.3", "deprecated 0.4"

    @property
    def operator(self) -> str:
        return self.schema.partition("(")[0]

    @property
    def former_names(self) -> tuple[str, ...]:
        return tuple(f.removeprefix(_WAS).partition(" ")[0] for f in self.history if f.startswith(_WAS))

    @cached_property
    def parsed(self) -> FunctionSchema:
        return FunctionSchema.parse(self.schema)

    def __str__(self) -> str:
        cells = [self.schema, " ".join(self.names), " ".join(self.dtypes), ", ".join(self.history)]
        while len(cells) > 2 and not cells[-1]:
            cells.pop()
        return " | ".join(cells)


class Change(NamedTuple):
    """What is different about one operator."""

    operator: str
    is_breaking: bool
    what: str


class Lock(NamedTuple):
    rows: Mapping[str, Row]
    reasons: tuple[str, ...] = ()  # of breaking changes, the last one first

    def __str__(self) -> str:
        reasons = "".join(f"{_REASON}{reason}\n" for reason in self.reasons)
        return _HEAD + reasons + "".join(f"{row}\n" for row in self.rows.values())


def lock_path(program: Program) -> Path:
    return Path(program.path).with_suffix(".lock")


def read_lock(path: Path) -> Lock:
    """Raises LockError unless every line is a row or a comment."""
    rows: dict[str, Row] = {}
    reasons = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(_REASON):
            reasons.append(line.removeprefix(_REASON))
        if not line or line.startswith("#"):
            continue

        schema, *cells = line.split(" | ")
        if not _SCHEMA.match(schema) or len(cells) not in (1, 2, 3):
            raise LockError(Location(path.name, number, 1))
        names, dtypes, history = (*cells, "", "")[:3]
        facts = tuple(history.split(", ")) if history else ()
        rows[schema.partition("(")[0]] = Row(schema, tuple(names.split()), tuple(dtypes.split()), facts)
    return Lock(rows, tuple(reasons))


def digest_of(program: Program) -> str:
    """Names the state of the contract: it is another one after any change of a row."""
    text = "".join(f"{row}\n" for row in rows_of(program).values())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def rows_of(program: Program) -> dict[str, Row]:
    """The rows of the public operators, in file order."""
    public = (operator for operator in program if operator.python_module != "private")
    return {operator.name: _row(operator) for operator in public}


def _row(operator: Operator) -> Row:
    dtypes = tuple(_short(dtype) for dtype in operator.dtypes)
    return Row(str(operator.schema), tuple(_names(operator)), dtypes, tuple(_history(operator)))


def _history(operator: Operator) -> Iterator[str]:
    if operator.since is not None:
        yield f"since {operator.since}"
    yield from (f"{_WAS}{rename.name} until {rename.since}" for rename in operator.renamed)
    if operator.deprecated is not None:
        yield f"deprecated {operator.deprecated.since}"


def _short(dtype: str) -> str:
    for word, letter in _SHORT:
        if dtype.startswith(word):
            return letter + dtype.removeprefix(word)
    return dtype


def _names(operator: Operator) -> Iterator[str]:
    """``torch.add Tensor.add Tensor.add_ torch.add(out)``, and so for each alias."""
    own = [(operator.python_module, operator.python_name)]
    placed = [alias.rpartition(".") for alias in operator.aliases]
    plain = [(operator.python_module, name) for place, _, name in placed if not place]

    for module, name in (*own, *plain):
        if operator.is_function:
            yield f"{module}.{name}"
        if operator.is_method:
            yield f"Tensor.{name}"
        if operator.has_inplace_method:
            yield f"Tensor.{name}_"
        if operator.has_inplace_function:
            yield f"{module}.{name}_"
        if operator.has_out:
            yield f"{module}.{name}(out)"
    yield from (f"{place}.{name}" for place, _, name in placed if place)
    for _, former in formerly(operator):
        yield from _names(former)


# Changes


def changes(before: Mapping[str, Row], after: Mapping[str, Row]) -> list[Change]:
    """What is different, in the order of ``after``; what is gone comes last."""
    found = []
    kept = set(after)
    for name, row in after.items():
        known = [former for former in (name, *row.former_names) if former in before]
        kept.update(row.former_names)
        if not known:
            found.append(Change(name, False, "it is new"))
            continue
        if known[0] != name:
            found.append(Change(name, False, f"it was called {known[0]}"))
        if row != before[known[0]]:
            found += [Change(name, *change) for change in _changes(before[known[0]], row)]
    return [*found, *(Change(name, True, "it is gone") for name in before if name not in kept)]


def _changes(before: Row, after: Row) -> Iterator[tuple[bool, str]]:
    """Whether each change breaks programs, and what it is."""
    if before.schema != after.schema:
        found = list(_schema_changes(before.parsed, after.parsed))
        is_renamed = before.operator != after.operator
        yield from found or ([] if is_renamed else [(False, "its schema is written in another way")])
    yield from _set_changes("the name", before.names, after.names)
    # Without dtypes, an operator takes any.
    if before.dtypes and after.dtypes:
        yield from _set_changes("the dtype", before.dtypes, after.dtypes)
    elif before.dtypes != after.dtypes:
        yield (
            bool(after.dtypes),
            "it takes " + (f"only {' '.join(after.dtypes)}" if after.dtypes else "any dtype"),
        )
    for name in before.former_names:
        if name not in (after.operator, *after.former_names):
            yield True, f"its former name {name} is gone"
    if before.history != after.history:
        yield False, f"its history is {', '.join(after.history) or 'left out'}"


def _set_changes(kind: str, before: Iterable[str], after: Iterable[str]) -> Iterator[tuple[bool, str]]:
    yield from ((True, f"{kind} {name} is gone") for name in before if name not in set(after))
    yield from ((False, f"{kind} {name} is new") for name in after if name not in set(before))


def _schema_changes(before: FunctionSchema, after: FunctionSchema) -> Iterator[tuple[bool, str]]:
    old = list(before.arguments.positional)
    new = list(after.arguments.positional)
    by_name = {a.name: a for a in after.arguments.flat_all}

    for index, argument in enumerate(old):
        if argument.name not in by_name:
            yield True, f"the argument '{argument.name}' is gone"
        elif index >= len(new) or new[index].name != argument.name:
            yield True, f"the argument '{argument.name}' is at another place"
    for argument in before.arguments.kwarg_only:
        if argument.name not in by_name:
            yield True, f"the argument '{argument.name}' is gone"

    known = {a.name: a for a in before.arguments.flat_all}
    for name, argument in by_name.items():
        if name in known:
            yield from _argument_changes(known[name], argument)
        elif argument.has_default:
            yield False, f"the argument '{name}' is new"
        else:
            yield True, f"the argument '{name}' is new and has no default"

    if [str(r) for r in before.returns] != [str(r) for r in after.returns]:
        yield True, f"it returns {', '.join(map(str, after.returns)) or 'nothing'}"


def _argument_changes(before: Argument, after: Argument) -> Iterator[tuple[bool, str]]:
    old, new = (str(a.type).replace("SymInt", "int") for a in (before, after))
    if old != new:
        yield new not in (f"{old}?", f"{old}[]"), f"'{after.name}' is {new}, not {old}"
    if before.is_write != after.is_write:
        yield True, f"'{after.name}' is {'written to' if after.is_write else 'only read'}"
    if before.has_default and not after.has_default:
        yield True, f"'{after.name}' has no default"
    elif before.has_default and before.default_value != after.default_value:
        yield True, f"the default of '{after.name}' is {after.default}, not {before.default}"
    elif after.has_default and not before.has_default:
        yield False, f"'{after.name}' has a default"
