"""What docs/entries.md says of keys and words: rows of its tables whose first cell is a word in code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).resolve().parents[4] / "docs" / "entries.md"
_SECTION = re.compile(r"^## (?P<title>[^\n]*)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"^\| [^|]* \| [^|]* \|(?: (?P<third>[^|]*) \|)?\n\|-", re.MULTILINE)
_ROW = re.compile(r"^\| `(?P<word>\w+)` \| (?P<cells>.*)\|$", re.MULTILINE)
_LINK = re.compile(r"(?:: )?\[below\]\([^)]*\)|\[(?P<text>[^\]]*)\]\([^)]*\)")


@cache
def meanings(section: str) -> dict[str, str]:
    """Word -> meaning, followed by the third column of the table, such as the default of a key."""
    if not _PAGE.is_file():  # an installed generator comes without documentation
        return {}
    page = _PAGE.read_text(encoding="utf-8")
    body = next(found["body"] for found in _SECTION.finditer(page) if found["title"] == section)
    head = _HEAD.search(body)
    third = head["third"] if head and head["third"] else ""
    return {row["word"]: _sentences(third, row["cells"].split(" | ", 1)) for row in _ROW.finditer(body)}


def _sentences(third: str, cells: list[str]) -> str:
    meaning = _plain(cells[0])
    more = _plain(cells[1].strip(" |")) if len(cells) > 1 else ""
    return f"{meaning}. {third.capitalize()}: {more}." if more else f"{meaning}."


def _plain(cell: str) -> str:
    """Markdown without links to other pages."""
    return _LINK.sub(lambda found: found["text"] or "", cell).strip()
