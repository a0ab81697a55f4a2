"""Chapters of a file: a comment ``# Chapter linalg: ...`` above the first topic of each."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple

_BANNER = re.compile(r"# Chapter ([a-z_]+):")


class Chapter(NamedTuple):
    """``start`` is where the line of the comment begins."""

    start: int
    name: str


def chapters_of(text: str) -> list[Chapter]:
    """The chapters in the order of the text."""
    found = []
    for match in _BANNER.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        if not text[start : match.start()].strip(" "):
            found.append(Chapter(start, match[1]))
    return found


def chapter_at(chapters: list[Chapter], index: int) -> str:
    """The one that the character at ``index`` of the text is in; empty before the first one."""
    position = bisect.bisect_left(chapters, (index, ""))
    return chapters[position - 1].name if position else ""
