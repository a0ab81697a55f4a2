"""Where the word at the cursor is defined: C++, generators of arguments, other entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codegen.lsp.facts import Facts, is_in_room
from codegen.lsp.files import OPERATORS
from codegen.lsp.places import Place
from codegen.model import Kernel, Operator


@dataclass(frozen=True)
class Target:
    """A place in a file; line and column count characters from 0."""

    path: Path
    line: int
    column: int = 0


def definitions(place: Place, facts: Facts) -> list[Target]:
    word = place.at(place.word)
    if not word or place.is_in_prose:
        return []
    if facts.kind != OPERATORS:
        return facts.editing.definitions(place, facts)
    if place.path[:1] != ("topics",):
        return list(_declared(place, facts, word))
    if not place.is_in_entry:
        return _topic(facts, word)

    key = place.entry_key
    if key is None or key == "func":
        operator = facts.operator(place.operator_name)
        return _of_operator(operator, facts) if operator is not None and word == _name(place, word) else []
    if key in ("dispatch", "shape"):
        dispatched = (place.key or "").split(",")[0].strip()
        return [kernel_target(facts, k) for k in facts.kernels(dispatched) if k.symbol == word]
    if key == "samples":
        return list(_samples(facts, word))
    if key == "reference" and _test(place) is not None:
        return [Target(facts.root / str(_test(place)), 0)]
    return list(_declared(place, facts, word)) or list(_entries(place, facts, word))


def generated(place: Place, facts: Facts) -> list[Target]:
    """What is generated from the entry, where it is built."""
    operator = facts.operator(place.operator_name) if place.is_in_entry else None
    if operator is None or facts.program is None:
        return []
    places = facts.editing.generated(facts.program, operator, facts.root)
    return [Target(path, line - 1) for path, line in places]


def _name(place: Place, word: str) -> str | None:
    """The word, if it is ``func`` or a part of the operator's name and not of its arguments."""
    parts = ("func", *(place.operator_name or "").split("."))
    line = place.lines.start(place.lines.number_at(place.word.start))
    return word if word in parts and "(" not in place.text[line : place.word.start] else None


def _of_operator(operator: Operator, facts: Facts) -> list[Target]:
    """Its kernels and its shape rule, then the generators of its arguments."""
    kernels = [entry.definition for entry in operator.dispatch]
    found = [kernel_target(facts, k) for k in (*kernels, operator.shape_definition) if k is not None]
    samples = _samples(facts, operator.samples) if operator.samples else ()
    return list(dict.fromkeys([*found, *samples]))


def kernel_target(facts: Facts, kernel: Kernel) -> Target:
    return Target(facts.root / kernel.path, kernel.line - 1)


def _samples(facts: Facts, name: str) -> Iterator[Target]:
    for program in facts.programs():
        for path, line in facts.editing.samples(Path(program.path).resolve().parent, name):
            yield Target(path, line)  # the function is below its decorator


def _topic(facts: Facts, topic: str) -> list[Target]:
    """The files of a topic."""
    kernels = [k for key in facts.dialect.dispatch_keys for k in facts.kernels(key) if is_in_room(k, topic)]
    return [Target(facts.root / path, 0) for path in sorted({k.path for k in kernels})]


def _test(place: Place) -> str | None:
    value = place.value_in_entry("reference") or ""
    return value if value.endswith(".py") else None


def _declared(place: Place, facts: Facts, word: str) -> Iterator[Target]:
    """Sets of dtypes, requirements and reasons, in the file or in the one that it extends."""
    outer = (*place.path, place.key or "")[0]
    tables = {
        "dtypes": ("dtype_sets",),
        "dtype_sets": ("dtype_sets",),
        "requires": ("requirements", "dtype_sets"),
        "requirements": ("requirements", "dtype_sets"),
        "non_differentiable": ("reasons",),
    }

    for table in tables.get(place.entry_key or outer, ()):
        for path, text in texts(place, facts):
            body = re.search(rf"^{table} *:.*\n((?: .*\n|\s*\n|#.*\n)*)", text, re.MULTILINE)
            found = re.search(rf"^ +({word}) *:", body[1], re.MULTILINE) if body else None
            if body and found:
                yield match_target(path, text, body.start(1) + found.start(1))
                return


def _entries(place: Place, facts: Facts, word: str) -> Iterator[Target]:
    """The entries of an operator that a formula calls."""
    for path, text in texts(place, facts):
        for found in re.finditer(rf"^ *- *func: *['\"]?({word})(?:\.\w+)?\(", text, re.MULTILINE):
            yield match_target(path, text, found.start(1))


def texts(place: Place, facts: Facts) -> Iterator[tuple[Path, str]]:
    """The file as it is in the editor, and those that it extends."""
    yield facts.path, place.text
    for program in facts.programs():
        path = Path(program.path)
        if path.resolve() != facts.path and path.is_file():
            yield path.resolve(), path.read_text(encoding="utf-8", errors="replace")


def match_target(path: Path, text: str, offset: int) -> Target:
    return Target(path, text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1)
