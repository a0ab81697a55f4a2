"""Finds the names that ``@samples("name")`` gives to generators of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_DECORATOR = re.compile(r"^@samples\(\s*['\"](\w+)['\"]", re.MULTILINE)


def scan_samples(folder: Path) -> frozenset[str] | None:
    """The names below ``folder``; None where there is no such folder (an installed package without its tests)."""
    if not folder.is_dir():
        return None
    return frozenset(name for _, text in _files(folder) for name in _DECORATOR.findall(text))


def samples_places(folder: Path, name: str) -> Iterator[tuple[Path, int]]:
    """File and line of each generator called ``name``."""
    for path, text in _files(folder):
        for match in _DECORATOR.finditer(text):
            if match.group(1) == name:
                yield path, text.count("\n", 0, match.start()) + 1


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, path.read_text(encoding="utf-8", errors="replace")
