"""Writes rendered files to a folder and leaves those alone whose text is right already.

New texts wait in a hidden folder until everything is rendered; then each file is replaced as a whole.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from codegen.target import Pieces

_PIECE = 1 << 20  # characters
_PIECE_MARK = "%23"  # between the name of a file and the numbers of a piece
WAITING = ".new"  # the beginning of its name, which goes on with the number of the process


class GenerateReport(NamedTuple):
    """Paths relative to the output folder."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    notes: tuple[str, ...] = ()  # what could not be generated

    def __str__(self) -> str:
        counts = f"{len(self.written)} written, {len(self.removed)} removed, {self.unchanged} unchanged"
        return "\n".join([counts, *self.notes])


def write_tree(folder: Path, files: Mapping[str, str], before: Iterable[str]) -> GenerateReport:
    """Writes the files that differ, and removes those that ``before`` lists and ``files`` lacks."""
    with Staged(folder) as staged:
        return staged.commit(files, staged.add(files), before)


class Staged:
    """New texts of a folder. Several processes may add some."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting = folder

    def __enter__(self) -> Staged:
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(f"{WAITING}-*"):  # another run may be rendering into its own
            if not _is_running(int(left.name.split("-")[1])):
                shutil.rmtree(left, ignore_errors=True)
        self.waiting = Path(tempfile.mkdtemp(prefix=f"{WAITING}-{os.getpid()}-", dir=self.folder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.waiting, ignore_errors=True)

    def add(self, files: Mapping[str, str | Pieces]) -> list[str]:
        """The names of the files that differ from those in the folder, but for those in pieces."""
        differing = []
        folder = os.fspath(self.folder)
        for name, text in files.items():
            if not isinstance(text, str):
                self._add_pieces(name, text)
            elif not _holds(f"{folder}/{name}", text):
                _write(self._waiting_at(name), text)
                differing.append(name)
        return differing

    def _add_pieces(self, name: str, pieces: Pieces) -> None:
        for place, text in pieces.items():
            numbers = ".".join(map(str, place))
            _write(f"{self._waiting_at(name)}{_PIECE_MARK}{numbers}", text)

    def join_pieces(self) -> tuple[list[str], list[str]]:
        """Makes files of the pieces that all parts have added: their names, and of these that differ."""
        pieces: dict[str, list[tuple[int, ...]]] = {}
        for found in os.listdir(self.waiting):
            name, mark, numbers = found.partition(_PIECE_MARK)
            if mark:
                pieces.setdefault(name, []).append(tuple(map(int, numbers.split("."))))

        names = sorted(name.replace("%2F", "/").replace("%25", "%") for name in pieces)
        for name in names:
            waiting = self._waiting_at(name)
            with open(waiting, "wb") as file:
                for place in sorted(pieces[os.path.basename(waiting)]):
                    path = f"{waiting}{_PIECE_MARK}{'.'.join(map(str, place))}"
                    with open(path, "rb") as piece:
                        shutil.copyfileobj(piece, file)
                    os.unlink(path)
        return names, [name for name in names if not self._is_same(name)]

    def _is_same(self, name: str) -> bool:
        try:
            return filecmp.cmp(self._waiting_at(name), f"{self.folder}/{name}", shallow=False)
        except FileNotFoundError:
            return False

    def _waiting_at(self, name: str) -> str:
        """All in one folder: making and removing a tree of them takes as long as writing a few files."""
        return f"{self.waiting}/{name.replace('%', '%25').replace('/', '%2F')}"

    def commit(self, names: Iterable[str], differing: Sequence[str], before: Iterable[str]) -> GenerateReport:
        """Moves the files to their places; ``names`` are those of all files."""
        for name in differing:
            _move(self._waiting_at(name), f"{self.folder}/{name}")

        every = set(names)
        removed = []
        for name in sorted(set(before) - every):
            path = self.folder / name
            if path.exists():
                path.unlink()
                removed.append(name)
                _remove_empty(self.folder, path.parent)

        return GenerateReport(tuple(differing), tuple(removed), len(every) - len(differing))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


# Paths are texts here: those of many files cost more as objects than the files do.


def _encoded(text: str) -> Iterator[bytes]:
    """In pieces, as a text may be large."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE].encode("utf-8")


def _write(path: str, text: str) -> None:
    with open(path, "wb", buffering=0) as file:
        for piece in _encoded(text):
            left = memoryview(piece)
            while left:  # a full disk takes a part, then fails
                left = left[file.write(left) :]


def _holds(path: str, text: str) -> bool:
    try:
        with open(path, "rb") as file:
            return all(file.read(len(piece)) == piece for piece in _encoded(text)) and not file.read(1)
    except OSError:
        return False


def _move(source: str, place: str) -> None:
    try:
        os.replace(source, place)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.replace(source, place)


def _remove_empty(root: Path, folder: Path) -> None:
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
