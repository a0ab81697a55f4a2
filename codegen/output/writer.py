"""Writes a rendered tree to a folder and leaves files alone whose text is right already."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GenerateReport:
    """Paths relative to the output folder."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    notes: tuple[str, ...] = ()  # what could not be generated

    def __str__(self) -> str:
        counts = f"{len(self.written)} written, {len(self.removed)} removed, {self.unchanged} unchanged"
        return "\n".join([counts, *self.notes])


def write_tree(folder: Path, files: Mapping[str, str], before: Iterable[str]) -> GenerateReport:
    """Writes the files that differ, and removes those that ``before`` lists and ``files`` lacks.

    Each file is replaced as a whole.
    """
    written = []
    for name, text in files.items():
        path = folder / name
        data = text.encode("utf-8")
        if not _holds(path, data):
            _replace(path, data)
            written.append(name)

    removed = []
    for name in sorted(set(before) - set(files)):
        if (folder / name).exists():
            (folder / name).unlink()
            removed.append(name)
            _remove_empty(folder, (folder / name).parent)

    return GenerateReport(tuple(written), tuple(removed), len(files) - len(written))


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _remove_empty(root: Path, folder: Path) -> None:
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
