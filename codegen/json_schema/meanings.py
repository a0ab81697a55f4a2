"""What docs/entries.md says of keys and words: rows of its tables whose first cell is a word in code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "entries.md"
_SECTION = re.compile(r"^## (?P<title>[^\n]*)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `(?P<word>\w+)` \| (?P<cells>.*) \|$", re.MULTILINE)
_LINK = re.compile(r"(?:: )?\[below\]\([^)]*\)|\[(?P<text>[^\]]*)\]\([^)]*\)")


@cache
def meanings(section: str) -> dict[str, str]:
    """Word -> meaning, and its default where the table has a column for that."""
    if not _PAGE.is_file():  # an installed generator comes without documentation
        return {}
    page = _PAGE.read_text(encoding="utf-8")
    bodies = {found["title"]: found["body"] for found in _SECTION.finditer(page)}
    return {row["word"]: _sentence(row["cells"].split(" | ")) for row in _ROW.finditer(bodies[section])}


def _sentence(cells: list[str]) -> str:
    meaning = _plain(cells[0])
    default = _plain(cells[1]) if len(cells) > 1 else ""
    return f"{meaning}. Default: {default}." if default else f"{meaning}."


def _plain(cell: str) -> str:
    """Markdown without links to other pages."""
    return _LINK.sub(lambda found: found["text"] or "", cell).strip()
