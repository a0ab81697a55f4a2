"""A hundred mistakes of our own: each is told at its line, in words, and hides nothing of the next entry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from codegen.diagnostics import Diagnostic, Diagnostics
from codegen.model import Program, read_program

_FOLDER = Path(__file__).parent
_ENTRIES: dict[str, str] = yaml.safe_load((_FOLDER / "mistakes.yaml").read_text())
_HEAD = "topics:\n  Mistakes:\n"
# An entry behind the mistake, which has a problem of its own.
_NEXT = """\
    - func: next_one(Tensor self) -> Tensor
      structure: composite
      dispatch:
        All: composite_function
      samples: unary
      doc: Text about ``nothing_known``.
"""


@dataclass(frozen=True)
class Mistake:
    entry: str
    right: str
    wrong: str
    place: str  # LINE:COL in the entry
    fragment: str

    @property
    def text(self) -> str:
        """The file, whose third line is the first one of the entry."""
        entry = "".join(f"    {line}\n" for line in _ENTRIES[self.entry].splitlines())
        assert entry.count(self.right) >= 1, f"{self.entry} has no {self.right!r}"
        return _HEAD + entry.replace(self.right, self.wrong, 1) + _NEXT


def _mistakes() -> list[Mistake]:
    rows = (_FOLDER / "mistakes.txt").read_text().splitlines()
    cells = [row.split(" | ") for row in rows if row and not row.startswith("#")]
    return [Mistake(e, _unescaped(r), _unescaped(w), p, f) for e, r, w, p, f in cells]


def _unescaped(text: str) -> str:
    return "" if text == "(nothing)" else text.replace("\\n", "\n").replace("\\t", "\t")


MISTAKES = _mistakes()


def _problems(text: str, checkout: Path, tree: Program) -> list[Diagnostic]:
    problems = Diagnostics()
    read_program(checkout / "mistakes.yaml", problems, tree, checkout, text=text)
    return problems.sorted()


@pytest.mark.parametrize("name", _ENTRIES)
def test_the_entries_are_right(name: str, checkout: Path, tree: Program):
    problems = _problems(Mistake(name, "", "", "", "").text, checkout, tree)
    assert [p.operator for p in problems] == ["next_one"], "\n".join(map(str, problems))


def test_there_are_a_hundred():
    assert len(MISTAKES) >= 100


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.entry}: {m.wrong[:40]!r}")
def test_mistakes(mistake: Mistake, checkout: Path, tree: Program):
    problems = _problems(mistake.text, checkout, tree)
    found = [p for p in problems if p.operator != "next_one"]
    told = [(f"{p.location.line - 2}:{p.location.column}", p.message) for p in found]
    assert any(place == mistake.place and mistake.fragment in message for place, message in told), told
    assert len(found) <= 5, "\n".join(map(str, found))
    # The doc of the next entry is checked as well.
    assert any(p.operator == "next_one" for p in problems), "\n".join(map(str, problems))
