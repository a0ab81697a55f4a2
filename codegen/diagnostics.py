"""Problems in a file: where they are, what is wrong and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Location(NamedTuple):
    """A place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Diagnostic(NamedTuple):
    """Rendered as ``native_functions.yaml:LINE:COL: operator: what is wrong; what to write``.

    ``operator`` is the name and overload as the entry writes them, a topic, or the key of a document-level
    table.
    """

    location: Location
    operator: str
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.location}: {self.operator}: {self.message}; {self.hint}"


class Diagnostics:
    """Collects problems; the same problem reported twice counts once."""

    def __init__(self) -> None:
        self._found: set[Diagnostic] = set()

    def report(self, location: Location, operator: str, message: str, hint: str) -> None:
        self._found.add(Diagnostic(location, operator, _one_line(message), _one_line(hint)))

    def add(self, diagnostic: Diagnostic) -> None:
        self.report(diagnostic.location, diagnostic.operator, diagnostic.message, diagnostic.hint)

    def update(self, others: Diagnostics) -> None:
        self._found |= others._found

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def sorted(self) -> list[Diagnostic]:
        return sorted(self._found)

    def render(self) -> str:
        """All problems, a line each, and a last line with their number."""
        lines = [str(d) for d in self.sorted()]
        count = len(lines)
        return "\n".join([*lines, f"{count} problem{'' if count == 1 else 's'}"])


class GenerationError(Exception):
    """Carries all diagnostics of a failed run to the command line."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(diagnostics.render())
        self.diagnostics = diagnostics


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant; None if nothing is close."""
    return _closest(word, tuple(sorted(set(known))))


_MANY = 200


@lru_cache(maxsize=1000)
def _closest(word: str, names: tuple[str, ...]) -> str | None:
    """One word is often missing at many places, and comparing it with all operators takes long."""
    swapped = [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)]
    # Among many names, some are like any word: nosuch and cosh have three of five letters in common.
    likeness = 0.6 if len(names) < _MANY else 0.75
    near = (
        [name for name in swapped if name in names and name != word]
        or difflib.get_close_matches(word, names, 1, likeness)
        or [name for name in names if name.lower() == word.lower()]
    )
    return near[0] if near else None


def did_you_mean(word: str, known: Iterable[str], limit: int = 12) -> str:
    """``did you mean X?``, or the list of what is known when nothing is close."""
    names = sorted(set(known))
    near = closest(word, names)
    if near:
        return f"did you mean {near}?"
    if not names:
        return "remove it"
    shown = ", ".join(names[:limit]) + (", ..." if len(names) > limit else "")
    return f"write one of {shown}" if len(names) > 1 else f"write {shown}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
