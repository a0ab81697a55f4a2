"""Finds the names that ``@samples("name")`` gives to generators of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.scanned import sample_files

_DECORATOR = re.compile(r"^@samples\(\s*['\"](\w+)['\"]", re.MULTILINE)


def scan_samples(root: Path) -> frozenset[str] | None:
    """The names in a checkout; None for an installed package, which has no tests."""
    if not (root / "tests" / "ops" / "samples").is_dir():
        return None
    return frozenset(name for _, text in _files(root) for name in _DECORATOR.findall(text))


def samples_places(root: Path, name: str) -> Iterator[tuple[Path, int]]:
    """File and line of each generator called ``name``."""
    for path, text in _files(root):
        for match in _DECORATOR.finditer(text):
            if match.group(1) == name:
                yield path, text.count("\n", 0, match.start()) + 1


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    for path in sample_files(root):
        yield path, path.read_text(encoding="utf-8", errors="replace")
