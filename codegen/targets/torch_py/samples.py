"""Finds the names that ``@samples("name")`` gives to generators of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.targets.torch_py.scanned import SAMPLE_FOLDERS, sample_files

_DECORATOR = re.compile(r"^@samples\(\s*['\"](\w+)['\"]", re.MULTILINE)


def scan_samples(root: Path) -> frozenset[str] | None:
    """The names in a checkout, or in the `samples.py` of a package of operators; None for a folder without
    samples, as that of a library that is a single file."""
    if not sample_files(root) and not any((root / folder).is_dir() for folder in SAMPLE_FOLDERS):
        return None
    return frozenset(name for _, text in _files(root) for name in _DECORATOR.findall(text))


def samples_places(root: Path, name: str) -> Iterator[tuple[Path, int]]:
    """File and line of each generator called ``name``."""
    for path, text in _files(root):
        for match in _DECORATOR.finditer(text):
            if match.group(1) == name:
                yield path, text.count("\n", 0, match.start()) + 1


def repeated_samples(root: Path) -> dict[str, list[tuple[str, int]]]:
    """Names that several generators of a checkout have, with the file and the line of each."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path, text in _files(root):
        for match in _DECORATOR.finditer(text):
            place = path.relative_to(root).as_posix(), text.count("\n", 0, match.start()) + 1
            found.setdefault(match.group(1), []).append(place)
    return {name: places for name, places in found.items() if len(places) > 1}


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    for path in sample_files(root):
        yield path, path.read_text(encoding="utf-8", errors="replace")
