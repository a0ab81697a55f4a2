"""What the generator wrote for an operator, cut out of the files below ``build/generated``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tools.site.operators.declared import Operator, functions_of

FOLDER = "build/generated"
# Files with a definition for each operator. Documentation and metadata are shown by other means.
_SUFFIXES = (".cpp", ".h", ".cu")


@dataclass(frozen=True)
class Part:
    """A piece of one file."""

    path: str
    line: int
    code: str


@dataclass
class Generated:
    """Finds the pieces by the comment with the schema that precedes each of them."""

    root: Path
    topics: dict[str, int] = field(default_factory=dict)

    def parts_of(self, operator: Operator) -> list[Part]:
        marks = [f"// {function.schema}" for function in functions_of(operator)]
        found: dict[str, list[tuple[int, str]]] = {}
        for mark in marks:
            for path, line, code in self._pieces.get(mark, ()):
                found.setdefault(path, []).append((line, code))
        return [
            Part(path, pieces[0][0], "\n\n".join(code for _, code in sorted(pieces)))
            for path, pieces in found.items()
        ]

    @cached_property
    def _pieces(self) -> dict[str, list[tuple[str, int, str]]]:
        """Path, line and text by the comment that begins the piece."""
        pieces: dict[str, list[tuple[str, int, str]]] = {}
        for path in self._files():
            name = path.relative_to(self.root / FOLDER).as_posix()
            for line, lines in _cut(path.read_text(encoding="utf-8").split("\n")):
                pieces.setdefault(lines[0], []).append((name, line, "\n".join(lines).rstrip()))
        return pieces

    def _files(self) -> Iterable[Path]:
        folder = self.root / FOLDER
        return sorted(p for p in folder.rglob("*") if p.suffix in _SUFFIXES and ".templates" not in p.parts)


def _cut(lines: list[str]) -> Iterable[tuple[int, list[str]]]:
    """Pieces from a comment with a schema to the next one, or to the end of the namespace."""
    begin: int | None = None
    for number, line in enumerate(lines):
        is_mark = line.startswith("// ") and line.find("(") > 0 and " -> " in line
        if begin is not None and (is_mark or line.startswith("}  // namespace")):
            yield begin + 1, lines[begin:number]
            begin = None
        if is_mark:
            begin = number
    if begin is not None:
        yield begin + 1, lines[begin:]
