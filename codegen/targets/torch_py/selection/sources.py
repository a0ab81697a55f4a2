"""What functions in C++ call, by their text: operators (``at::sum(x)``) and one another.

The text is cut where a brace closes at the margin, which ends a function. A piece is known by the functions
that begin at its margin, and refers to every word in it, so that too much is found rather than too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# Files with kernels, which belong to operators. What the others call is needed by every program.
KERNELS = "aten/native"
FOLDERS = (KERNELS, "aten/core", "aten/iteration", "aten/dispatch", "torch_py/csrc")
# Compiled into other libraries, or used by programs whose run shows what they call.
_ELSEWHERE = ("aten/native/cuda", "torch_py/csrc/compiler")

_CALL = re.compile(r"\bat::(?:ops::)?(\w+)\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"^(?!#)\S[^\n;={}]*?\b(\w+)\(", re.MULTILINE)


class Piece(NamedTuple):
    path: str
    names: frozenset[str]
    calls: frozenset[str]  # names after at::
    words: frozenset[str]


def read_pieces(root: Path) -> list[Piece]:
    return [piece for path in source_files(root) for piece in _pieces(path, root)]


def source_files(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".cpp", ".h") and not name.startswith(_ELSEWHERE):
                yield path


def _pieces(path: Path, root: Path) -> Iterator[Piece]:
    name = path.relative_to(root).as_posix()
    for text in re.split(r"^\}.*\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
        defined = frozenset(_DEFINED.findall(text))
        yield Piece(name, defined, frozenset(_CALL.findall(text)), frozenset(_WORD.findall(text)))


class CallGraph:
    """Finds the operators that a function calls, itself and through other functions."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.pieces = list(pieces)
        self.by_name: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            for name in piece.names:
                self.by_name.setdefault(name, []).append(piece)
        self.seen: set[str] = set()

    def calls_of(self, function: str) -> set[str]:
        """Names after at::, of pieces that were not reached before."""
        found: set[str] = set()
        pending = [function]
        while pending:
            name = pending.pop()
            if name in self.seen:
                continue

            self.seen.add(name)
            for piece in self.by_name.get(name, ()):
                if piece.path.startswith(KERNELS):
                    found |= piece.calls
                    pending += [word for word in piece.words if word in self.by_name]
        return found

    def calls_of_all_programs(self) -> set[str]:
        return {call for piece in self.pieces if not piece.path.startswith(KERNELS) for call in piece.calls}
